import { closeSync, openSync } from 'node:fs'
import { inNamespacesOf } from '../../linux/away.ts'
import { ownProc } from '../../linux/own-proc.ts'
import { startCalls, starterDescriptor } from '../../linux/starter.ts'
import { CannotCheckpoint } from './error.ts'
import { awaitEnd } from './run-criu.ts'

/**
 * Mounts the `/proc` of a process's pid namespace in its mount namespace. The process must be the first of the pid
 * namespace. The process has no right to mount any more, so a helper process mounts it, and has ended when this
 * returns.
 *
 * @throws CannotCheckpoint
 */
export const mountProc = (pid: number): void => {
  const report = openSync('/dev/null', 'w')
  try {
    const child = inNamespacesOf(pid, ['mnt', 'pid'], () =>
      startCalls([...ownProc(), { name: 'exit_group', arguments: [0] }], [[report, starterDescriptor.report]]),
    )
    const failed = awaitEnd(child)
    if (failed !== undefined) throw new CannotCheckpoint(`mounting its /proc ${failed}`)
  } finally {
    closeSync(report)
  }
}
