import { TopologyError } from '../error.ts'
import { parseTime } from '../formats/units.ts'
import { type ChurnEvent, type ChurnPlan, checkPlan, type Manner, manners } from './plan.ts'

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
    const words = line
      .replace(/#.*/, '')
      .split(/\s+/)
      .filter(word => word !== '')
    return words.length === 0 ? [] : [eventOf(words, `line ${index + 1}`)]
  })
  return checkPlan({ nodes, initial, events: events.sort((one, other) => one.atMs - other.atMs) })
}

const eventOf = ([time, does, ...rest]: readonly string[], where: string): ChurnEvent => {
  const atMs = parseTime(time!)
  if (atMs === undefined) throw new TopologyError(`${where}: expected a time such as 90s or 3m, found "${time}"`)
  const [first, second] = rest
  if (does === 'join' && rest.length === 1) return { atMs, does, node: first! }
  if (does === 'leave' && rest.length >= 1 && rest.length <= 2) {
    return { atMs, does, node: first!, manner: mannerOf(second ?? 'stop', where) }
  }
  if (does === 'partition' && rest.length > 0) return { atMs, does, groups: rest.map(group => group.split(',')) }
  if (does === 'heal' && rest.length === 0) return { atMs, does }
  const found = [does, ...rest].join(' ')
  throw new TopologyError(
    `${where}: expected "join NODE", "leave NODE [MANNER]", "partition NODE,NODE NODE" or "heal", found "${found}"`,
  )
}

const mannerOf = (text: string, where: string): Manner => {
  const manner = manners.find(each => each === text)
  if (manner) return manner
  throw new TopologyError(`${where}: expected to leave by ${manners.join(', ')}, found "${text}"`)
}
