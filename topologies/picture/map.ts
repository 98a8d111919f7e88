import { onCircle, type PlanePoint } from '../generate/plane.ts'
import { type LinkClass, linkClasses, type NodeRole, roles, type Topology } from '../topology.ts'
import { element } from '../xml.ts'
import { panelSide, panelText, pointOf } from './panel.ts'

/** Lines of one colour, as the path of an SVG. */
interface MapLines {
  readonly d: string
  readonly colour: string
  readonly width: number
  readonly opacity: number
}

/**
 * Nodes at their places, with links coloured by class. If no node has a place, they are on a circle; if only some have
 * none, those are left out.
 */
export const drawMap = (topology: Topology): string[] => [
  ...mapOf(topology).lines.map(({ d, colour, width, opacity }) =>
    element('path', {
      ...{ d, stroke: colour, 'stroke-width': width, 'stroke-opacity': opacity },
      ...{ fill: 'none', 'stroke-linecap': 'round' },
    }),
  ),
  ...legend(topology),
]

/**
 * The same as lines, and the place of each node on the square of a panel.
 *
 * @param hidden nodes that have a place, and are not in the picture
 */
export const mapOf = (
  topology: Topology,
  hidden: readonly string[] = [],
): { readonly lines: MapLines[]; readonly points: ReadonlyMap<string, readonly [number, number]> } => {
  const points = pointsOf(topology)
  const shown = new Map(points)
  for (const id of hidden) shown.delete(id)
  const linksOf = (linkClass: LinkClass) =>
    topology.links.flatMap(link => {
      const [from, to] = [shown.get(link.from), shown.get(link.to)]
      return link.class === linkClass && from && to ? [`M${from}L${to}`] : []
    })
  const dots = (role: NodeRole) =>
    topology.nodes.flatMap(node => {
      const point = shown.get(node.id)
      return node.role === role && point ? [`M${point}h0`] : []
    })
  const path = (shapes: readonly string[], colour: string, width: number, opacity: number) => ({
    d: shapes.join(''),
    ...{ colour, width, opacity },
  })
  const isCrowded = topology.nodes.length > 500
  const thickness = isCrowded ? 1 : 2
  const lines = [
    ...linkClasses.map(each => path(linksOf(each), linkColours[each], thickness / 2, isCrowded ? 0.15 : 0.7)),
    ...roles.map(each => path(dots(each), roleColours[each], dotSizes[each] * thickness, 1)),
  ]
  return { lines: lines.filter(({ d }) => d !== ''), points }
}

const linkColours: Readonly<Record<LinkClass, string>> = {
  'client-stub': '#009e73',
  'stub-stub': '#cc79a7',
  'stub-transit': '#999999',
  'transit-transit': '#56b4e9',
}
const roleColours: Readonly<Record<NodeRole, string>> = { transit: '#0072b2', stub: '#d55e00', client: '#009e73' }
const dotSizes: Readonly<Record<NodeRole, number>> = { transit: 3, stub: 2, client: 5 }

const legend = ({ nodes }: Topology) => {
  const present = roles.filter(role => nodes.some(node => node.role === role))
  return present.map((role, index) =>
    panelText((panelSide * (index + 1)) / (present.length + 1), panelSide - 20, `● ${role}`, {
      fill: roleColours[role],
    }),
  )
}

const pointsOf = ({ nodes }: Topology): Map<string, [number, number]> => {
  const isPlaced = nodes.some(({ at }) => at)
  const places = nodes.flatMap(({ id, at }, index): [string, PlanePoint][] => {
    const place = isPlaced ? at : onCircle(index, nodes.length, 1)
    return place ? [[id, place]] : []
  })
  const range = (axis: 0 | 1) => {
    const values = places.map(([, place]) => place[axis])
    const least = values.reduce((one, other) => Math.min(one, other))
    return { least, span: values.reduce((one, other) => Math.max(one, other)) - least }
  }
  const [x, y] = [range(0), range(1)]
  // One scale for both axes, so that distances are not distorted.
  const span = Math.max(x.span, y.span) || 1
  return new Map(places.map(([id, at]) => [id, pointOf((at[0] - x.least) / span, (at[1] - y.least) / span)]))
}
