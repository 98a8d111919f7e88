import { callerIn, visitIn } from '../../checker/system/labels.ts'
import type { Choice, ChoiceKind } from '../../checker/system/system.ts'
import type { Steer } from '../timed/timing.ts'

/** Milliseconds for which a node or client is held. Shorter ones would have to be repeated, longer ones cost more. */
const holdMs = 1000

/** Steps in place of which something else can happen. */
export const guardedKinds: readonly ChoiceKind[] = ['deliver', 'timer', 'client']

/** Whether an action only puts a step off: what it prevents may come again. */
export const putsOff = ({ how }: Steer): boolean => how === 'pause' || how === 'wait'

/** The last thing that can happen in place of a step that takes place in a node; undefined for a client's call. */
export const rebootAgainst = ({ kind, node }: Choice): Steer | undefined =>
  kind === 'deliver' || kind === 'timer' ? { does: 'steer', how: 'reboot', node } : undefined

/**
 * What can happen in place of a step, the mildest first: a datagram is lost, a connection is reset, what tells
 * of a reset is lost, a node stands still; of a real client the connection is reset. Each might have happened anyway. Empty for what was planned or requested.
 */
export const interventionsAgainst = ({ kind, node, label, connection }: Choice): readonly Steer[] => {
  switch (kind) {
    case 'deliver':
      return [
        ...(connection === undefined ? [] : [{ does: 'steer', how: 'break', node, message: label } as const]),
        { does: 'steer', how: 'lose', node, message: label },
        { does: 'steer', how: 'pause', node, forMs: holdMs },
      ]
    case 'timer':
      return [{ does: 'steer', how: 'pause', node, forMs: holdMs }]
    case 'client': {
      const visit = visitIn(label)
      if (visit) return [{ does: 'steer', how: 'refuse', ...visit }]
      const client = callerIn(label)
      return client === undefined ? [] : [{ does: 'steer', how: 'wait', client, forMs: holdMs }]
    }
    default:
      return []
  }
}
