import type { ChoiceKind } from './kinds.ts'

// The words for changes of what lies between nodes, and how they are read back: a report draws who was cut off from them.

/** What happens to packets from one node to another. */
export interface WayChange<Pipe = object> {
  readonly from: string
  readonly to: string
  /** Nothing passes. */
  readonly isCut?: boolean
  /** One additional pipe; `null` for none. */
  readonly pipe?: Pipe | null
}

/** A change of a link, in both directions. Fields that are not given stay as they are. */
export interface AnyLinkChange<Queue = object, Cross = object> {
  /** Its two ends, or a node of the system, for that node's own link. */
  readonly link: string | readonly [string, string]
  /** Restores the link as it was at the start, before the other fields count. */
  readonly asBefore?: boolean
  /** True: nothing passes. Packets are not routed around it. */
  readonly isDown?: boolean
  readonly delayMs?: number
  readonly jitterMs?: number
  readonly bandwidth?: number
  readonly loss?: number
  readonly queue?: Queue
  /** Traffic of others; `{ bandwidth: 0 }` for none. */
  readonly cross?: Cross
}

/** A link as people name it. */
export const shownLink = (link: AnyLinkChange['link']): string => (typeof link === 'string' ? link : link.join('–'))

export const describeLink = ({ link, asBefore, isDown, ...change }: AnyLinkChange): string => {
  const { delayMs, jitterMs, bandwidth, loss, queue, cross } = change
  const set = Object.entries({ delayMs, jitterMs, bandwidth, loss, queue, cross }).filter(
    ([, value]) => value !== undefined,
  )
  const laid = set.length === 0 ? [] : [settingsOf(Object.fromEntries(set))]
  return [
    shownLink(link),
    [...(asBefore ? ['as it was'] : []), ...(isDown === undefined ? [] : [isDown ? 'down' : 'up']), ...laid].join(', '),
  ].join(' ')
}

export const describeWay = ({ from, to, isCut, pipe }: WayChange): string => {
  const cut = isCut === undefined ? [] : [isCut ? 'cut' : 'joined']
  const laid = pipe === undefined ? [] : [pipe === null ? 'as it was' : settingsOf(pipe)]
  return `${from}→${to} ${[...cut, ...laid].join(', ')}`
}

const settingsOf = (pipe: object): string =>
  Object.entries(pipe)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(' ')

/** The kind of a change of links, by its label: whether it cuts any, only joins some, or neither. */
export const kindOfChange = (label: string): ChoiceKind | undefined => {
  if (!/^(set|link) /.test(label)) return undefined
  if (cutsBy(label).length > 0) return 'partition'
  return /^link .* (as it was|up)\b|^set .* joined\b/.test(label) ? 'heal' : 'link'
}

/** In a native run, labels begin with a time: `12.50 s n1→n2 cut`. */
const withoutTime = (label: string): string => label.replace(/^\d+\.\d+ s /, '')

/** The names of the ways, links and nodes that a choice cuts off: `n1→n2`, `link n1`, `node n1`; or of a partition. */
export const cutsBy = (label: string): readonly string[] => {
  const text = withoutTime(label)
  const [, left] = /^leave (\S+) cut$/.exec(text) ?? []
  if (left !== undefined) return [`node ${left}`]
  if (/^(partition|cut) /.test(text)) return [text]
  if (/^part /.test(text)) return [partsName]
  const [, link] = /^link (.*?) (?:as it was, )?down\b/.exec(text) ?? []
  return link === undefined ? waysIn(text, 'cut') : [`link ${link}`]
}

/** A timed run has one partition into groups at a time. */
const partsName = 'part'

const waysIn = (text: string, what: 'cut' | 'joined'): string[] =>
  text
    .replace(/^set /, '')
    .split('; ')
    .flatMap(way => new RegExp(`^(\\S+→\\S+) ${what}\\b`).exec(way)?.[1] ?? [])

/** Whether a choice ends the cut with this name. In a search, a heal ends all. */
export const isHealedBy = (label: string, cut: string): boolean => {
  const text = withoutTime(label)
  if (text === 'heal') return true
  if (/^(heal all$|part )/.test(text)) return cut === partsName
  const [, joined] = /^join (\S+)$/.exec(text) ?? []
  if (joined !== undefined) return cut === `node ${joined}`
  const [, link] = /^link (.*?) (?:as it was|up)\b/.exec(text) ?? []
  return link === undefined ? waysIn(text, 'joined').includes(cut) : cut === `link ${link}`
}
