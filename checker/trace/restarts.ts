import { happenings } from '../happening/happenings.ts'
import type { RecordedChoice } from './trace.ts'

/** The node that a choice kills and restarts in one step. Nothing else in the trace shows that it has a new life. */
export const restartedAtOnce = ({ kind, node, label }: RecordedChoice): string | undefined => {
  const { reboot } = happenings
  const isRestart =
    [`reset ${node}`, `reset ${node} silently`, reboot.label({ node })].includes(label) ||
    label.endsWith(` ${reboot.sentence({ node })}`)
  return kind === 'reset' && isRestart ? node : undefined
}
