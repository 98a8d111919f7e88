import { withOrdinal } from '../../system/labels.ts'
import type { Before } from '../local/order.ts'
import type { Flying } from '../local/table.ts'
import type { JointStep, Point } from './point.ts'

/** The steps that lead to a state from where the search began. */
export const stepsTo = (point: Point): JointStep[] => {
  const parts: (readonly JointStep[])[] = []
  for (let at: Point | undefined = point; at; at = at.before) parts.push(at.steps)
  return parts.reverse().flat()
}

/** The labels of these steps, with the ordinals that messages have in the whole system. */
export const labelsOfSteps = (
  steps: readonly JointStep[],
  { inFlight, counts }: Before,
  known: (sent: Before['inFlight'][number]) => Flying,
): string[] => {
  const sentBefore = new Map(counts)
  /** By message, the labels of those in flight. */
  const labels = new Map<Flying, string[]>()
  const hold = (message: Flying, label: string) => {
    const held = labels.get(message)
    if (held) held.push(label)
    else labels.set(message, [label])
  }
  for (const sent of inFlight) hold(known(sent), sent.label)
  const order: string[] = []
  const labelOf = (does: string | Flying, isKept = false): string => {
    if (typeof does === 'string') return does
    const held = labels.get(does)
    return (isKept ? held?.[0] : held?.shift()) ?? does.sent.label
  }
  for (const { does, prefix = '', sent } of steps) {
    if (typeof does === 'object' && 'length' in does) order.push(`overlap ${labelOf(does[0])} & ${labelOf(does[1])}`)
    else order.push(`${prefix}${labelOf(does, prefix === 'duplicate ')}`)
    for (const message of sent) {
      const way = `${message.sent.from}→${message.sent.to}`
      const ordinal = (sentBefore.get(way) ?? 0) + 1
      sentBefore.set(way, ordinal)
      hold(message, withOrdinal(message.sent.label, ordinal))
    }
  }
  return order
}
