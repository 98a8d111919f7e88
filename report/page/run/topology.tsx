import type { MapPoint, RunMap, SeenRun } from '../../run-data.ts'

/** The topology, and on it the nodes, the busiest links, and what is cut. */
export const TopologyPicture = ({ map, seen }: { readonly map: RunMap; readonly seen: SeenRun }) => {
  const mapName = mapNames(map, seen)
  const onMap = pointsOf(
    map,
    seen.nodes.map(({ name }) => mapName(name)),
  )
  const pointOf = (name: string) => onMap(mapName(name))
  const between = ([one = '', other = map.attached[mapName(one)] ?? '']: readonly string[]) => {
    const [from, to] = [pointOf(one), pointOf(other)]
    return from && to && `M${from}L${to}`
  }
  const names = labels(
    seen.nodes.flatMap(({ name }) => {
      const point = pointOf(name)
      return point ? [{ name, point }] : []
    }),
  )
  return (
    <figure>
      <figcaption>topology</figcaption>
      <svg viewBox="0 0 640 640" class="map" role="img" aria-label="topology">
        {map.lines.map(({ d, colour, width, opacity }) => (
          <path key={`${colour} ${width}`} d={d} stroke={colour} stroke-width={width} stroke-opacity={opacity} />
        ))}
        {seen.loads.map(({ from, to, load }) => (
          <path
            key={`${from} ${to}`}
            class="load"
            d={between([from, to])}
            stroke-width={1 + 5 * Math.min(1, load ?? 0)}
          >
            <title>{`${from}→${to}${load === null ? '' : `: ${(100 * load).toFixed(0)} %`}`}</title>
          </path>
        ))}
        {[...seen.links, ...seen.ways].map(({ text, ends, isCut }) => (
          <path key={text} class={isCut ? 'cut' : 'changed'} d={between(ends)}>
            <title>{text}</title>
          </path>
        ))}
        {seen.nodes.map(({ name, isAlive, isCut }) => {
          const point = pointOf(name)
          if (point === undefined) return null
          const [cx, cy] = point
          const side = sideOf(seen.groups, name)
          return (
            <g key={name} class={conditionOf({ isAlive, isCut })}>
              <title>{name}</title>
              <circle cx={cx} cy={cy} r={6} />
              {side !== undefined && <circle class="side" cx={cx} cy={cy} r={10} stroke={sideColours[side % 4]} />}
              {names.has(name) && (
                <text x={names.get(name)![0]} y={names.get(name)![1]}>
                  {name}
                </text>
              )}
            </g>
          )
        })}
      </svg>
    </figure>
  )
}

/** A node is `up`, `down`, or without its links. */
export const conditionOf = ({ isAlive, isCut }: { readonly isAlive: boolean; readonly isCut: boolean }) =>
  !isAlive ? 'down' : isCut ? 'cut' : 'up'

/** What a node is called on the map: one that was added has a place that was kept for it. */
const mapNames = ({ given, spares }: RunMap, { nodes }: SeenRun) => {
  const added = new Map(nodes.slice(given).map(({ name }, index) => [name, spares[index]]))
  return (name: string): string => added.get(name) ?? name
}

/** The points of the map, with nodes that lie on the node to which they are linked around it. */
const pointsOf = ({ points, attached }: RunMap, names: readonly string[]) => {
  const around = new Map<string, number>()
  const moved = new Map<string, MapPoint>()
  for (const name of names) {
    const [point, stub] = [points[name], attached[name]]
    if (point === undefined || stub === undefined || String(points[stub]) !== String(point)) continue
    const index = around.get(stub) ?? 0
    around.set(stub, index + 1)
    const angle = goldenAngle * index
    moved.set(name, [point[0] + away * Math.cos(angle), point[1] + away * Math.sin(angle)])
  }
  return (name: string): MapPoint | undefined => moved.get(name) ?? points[name]
}

const goldenAngle = 2.4
const away = 16

/** Which part of a partition a node belongs to: those without a group are the last one. Undefined if there is none. */
const sideOf = (groups: SeenRun['groups'], name: string): number | undefined => {
  if (groups === null) return undefined
  const side = groups.findIndex(group => group.includes(name))
  return side === -1 ? groups.length : side
}

const sideColours = ['#0072b2', '#e69f00', '#cc79a7', '#56b4e9']

const [letterWidth, lineHeight] = [7, 12]

/** Where the names are written: at one of four sides, so that none covers another. What finds no room is left out. */
const labels = (nodes: readonly { readonly name: string; readonly point: MapPoint }[]): Map<string, MapPoint> => {
  const placed = new Map<string, MapPoint>()
  const taken: Box[] = nodes.map(({ point: [x, y] }) => ({ left: x - 8, right: x + 8, top: y - 8, bottom: y + 8 }))
  for (const { name, point } of nodes) {
    const width = letterWidth * name.length
    const found = sides(point, width).find(at => {
      const box = boxAt(at, width)
      return box.left >= 0 && box.right <= 640 && taken.every(other => !meet(box, other))
    })
    if (found === undefined) continue
    placed.set(name, found)
    taken.push(boxAt(found, width))
  }
  return placed
}

interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

const sides = ([x, y]: MapPoint, width: number): MapPoint[] => [
  [x + 12, y + 4],
  [x - 12 - width, y + 4],
  [x - width / 2, y - 13],
  [x - width / 2, y + 23],
]

/** Of a name whose line begins there. */
const boxAt = ([x, y]: MapPoint, width: number): Box => ({
  ...{ left: x, right: x + width, top: y - lineHeight + 2, bottom: y + 2 },
})

const meet = (one: Box, other: Box): boolean =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom
