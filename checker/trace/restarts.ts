import type { RecordedChoice } from './trace.ts'

/** The node that a choice kills and restarts in one step. Nothing else in the trace shows that it has a new life. */
export const restartedAtOnce = ({ kind, node, label }: RecordedChoice): string | undefined => {
  const isRestart =
    [`reset ${node}`, `reset ${node} silently`, `leave ${node} kill, join`].includes(label) ||
    label.endsWith(` ${node} restarts`)
  return kind === 'reset' && isRestart ? node : undefined
}
