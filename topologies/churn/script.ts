import { type AnyHappening, formOf, plain, type Value } from '../../checker/happening/happenings.ts'
import { type StrikeKind, strikeIn, strikesExpected } from '../../checker/happening/strikes.ts'
import { inWords, TopologyError } from '../error.ts'
import { parseJump, parseTime } from '../formats/units.ts'
import { type ChurnEvent, type ChurnPlan, checkPlan, type Manner, manners, scripted } from './plan.ts'

/**
 * Reads a plan from text, a trace of real churn or a script. Each line is a time and an event. Times are `500ms`,
 * `90s`, `3m`, `1h`, or seconds without a unit:
 *
 *     0     join n1
 *     90s   leave n1 kill        # stop if no manner is given
 *     3m    partition n1,n2 n3
 *     5m    heal
 *
 * Throws a `TopologyError` with the line, or with the event if it is impossible, as when a present node joins.
 */
export const readScript = (text: string, nodes: readonly string[], initial: readonly string[]): ChurnPlan => {
  const events = text.split('\n').flatMap((line, index) => {
    const words = wordsOf(line)
    return words.length === 0 ? [] : [eventOf(words, `line ${index + 1}`)]
  })
  return checkPlan({ nodes, initial, events: events.sort((one, other) => one.atMs - other.atMs) })
}

/**
 * Reads what is to happen now: a line of a script without its time, or the same of what a script cannot plan.
 *
 * @throws TopologyError
 */
export const readHappening = (line: string): AnyHappening => happeningIn(wordsOf(line), plain, 'the line')

const eventOf = ([time, ...words]: readonly string[], where: string): ChurnEvent => {
  const atMs = parseTime(time!)
  if (atMs === undefined) throw new TopologyError(`${where}: expected a time such as 90s or 3m, found "${time}"`)
  return { atMs, ...happeningIn(words, scripted, where) } as ChurnEvent
}

const happeningIn = ([does, ...words]: readonly string[], rows: typeof plain, where: string): AnyHappening => {
  const meant = rows.find(each => each.does === does)
  const said = meant && saidBy(meant.takes, words, where)
  if (meant && said) return { does: meant.does, ...said } as AnyHappening
  const expected = inWords(rows.map(row => `"${formOf(row)}"`))
  throw new TopologyError(`${where}: expected ${expected}, found "${[does, ...words].join(' ')}"`)
}

const wordsOf = (line: string): string[] =>
  line
    .replace(/#.*/, '')
    .split(/\s+/)
    .filter(word => word !== '')

/** What the words after an event's name say; undefined if there are too few or too many. */
const saidBy = (takes: Readonly<Record<string, Value>>, words: readonly string[], where: string) => {
  const left = [...words]
  const said = Object.entries(takes).map(([name, value]) => [name, readers[value](left, where)] as const)
  const isWhole = left.length === 0 && said.every(([, value]) => value !== undefined)
  return isWhole ? Object.fromEntries(said) : undefined
}

/** The rest of the line. @throws TopologyError */
const strike =
  (kind: StrikeKind) =>
  (words: string[], where: string): string => {
    const said = words.splice(0).join(' ')
    if (strikeIn[kind](said)) return said
    throw new TopologyError(`${where}: expected ${strikesExpected[kind]}, found "${said}"`)
  }

/** Each takes the words that it needs. */
const readers: Readonly<Record<Value, (words: string[], where: string) => unknown>> = {
  node: words => words.shift(),
  word: words => words.shift(),
  manner: (words, where) => mannerOf(words.shift() ?? 'stop', where),
  jump: (words, where) => jumpOf(words.shift() ?? '', where),
  disk: strike('disk'),
  preempt: strike('preempt'),
  calls: strike('calls'),
  split: strike('split'),
  groups: words => (words.length > 0 ? words.splice(0).map(group => group.split(',')) : undefined),
}

/** @throws TopologyError */
const jumpOf = (text: string, where: string): number => {
  const byMs = parseJump(text)
  if (byMs !== undefined) return byMs
  throw new TopologyError(`${where}: expected how far the clock jumps, such as +1h or -2s, found "${text}"`)
}

const mannerOf = (text: string, where: string): Manner => {
  const manner = manners.find(each => each === text)
  if (manner) return manner
  throw new TopologyError(`${where}: expected to leave by ${manners.join(', ')}, found "${text}"`)
}
