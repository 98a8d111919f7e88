import { isDeepStrictEqual } from 'node:util'
import type { Unclassified } from '../roles.ts'
import { type Pipe, pipesOf } from '../topology.ts'

type FoundLink = Unclassified['links'][number]

/** One direction of a link, as in directed files. */
export type Arc = Pick<FoundLink, 'from' | 'to' | 'class'> & { readonly pipe: Pipe }

/** Directed edges as links. An edge is paired with the next one in the opposite direction, if there is one. */
export const linksOfArcs = (arcs: readonly Arc[]): FoundLink[] => {
  const alone = new Map<string, { arc: Arc; index: number }[]>()
  const links: FoundLink[] = []
  for (const arc of arcs) {
    const { pipe, ...ends } = arc
    const first = alone.get(JSON.stringify([arc.to, arc.from]))?.shift()
    if (first === undefined) {
      const key = JSON.stringify([arc.from, arc.to])
      alone.set(key, [...(alone.get(key) ?? []), { arc, index: links.length }])
      links.push({ ...ends, ...pipe, back: null })
      continue
    }
    const { back: _none, ...there } = links[first.index]!
    links[first.index] = isDeepStrictEqual(first.arc.pipe, pipe) ? there : { ...there, back: pipe }
  }
  return links
}

/** The directions of a link; only one if it has no way back. */
export const arcsOfLink = ({ from, to, class: linkClass, ...ways }: FoundLink): Arc[] => {
  const { there, back } = pipesOf(ways)
  const kind = linkClass && { class: linkClass }
  return [{ from, to, ...kind, pipe: there }, ...(back ? [{ from: to, to: from, ...kind, pipe: back }] : [])]
}
