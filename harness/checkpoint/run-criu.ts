import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { check, close, libc } from '../../proxy/libc.ts'
import { sendSignal } from '../hold/launch.ts'
import { ThreadEnded, wait } from '../hold/ptrace.ts'
import { spawn } from '../hold/spawn.ts'
import type { Criu } from './criu.ts'
import { CannotCheckpoint } from './error.ts'

const pidfdOpen = libc.func('int pidfd_open(int pid, unsigned int flags)')
const pollDescriptors = libc.func('poll', 'int', ['void *', 'unsigned long', 'int'])

const timeMsMax = 20_000

/** From util-linux: a program that does not outlive this thread. */
const endWithUs = ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--']

/**
 * Runs CRIU from this thread, in the namespaces that it is in, and waits for its end.
 *
 * @param images descriptor of the directory of its files
 * @param descriptors what it finds open, under the same numbers
 * @throws CannotCheckpoint with what it says, where it fails
 */
export const runCriu = (
  { command }: Criu,
  what: 'dump' | 'restore',
  images: number,
  args: readonly string[],
  descriptors: readonly number[],
): void => {
  const log = `${what}.log`
  const directory = `/proc/self/fd/${images}`
  const errors = openSync(`${directory}/${what}.err`, 'w+')
  const pid = spawn({
    path: endWithUs[0]!,
    arguments: [...endWithUs, ...command, what, '--images-dir', directory, '--log-file', log, ...args],
    environment: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    directory: '/',
    descriptors: [[errors, 2], ...[...descriptors, images].map(fd => [fd, fd] as const)],
  })
  closeSync(errors)
  const failed = awaitEnd(pid)
  if (failed === undefined) return
  const cause = causeIn(`${directory}/${log}`) ?? causeIn(`${directory}/${what}.err`)
  throw new CannotCheckpoint(`criu ${what} ${failed}${cause === undefined ? '' : `: ${cause}`}`)
}

/** How it failed; undefined where it did not. */
const awaitEnd = (pid: number): string | undefined => {
  const isOver = waitFor(pid, timeMsMax)
  if (!isOver) sendSignal(pid, 9)
  try {
    for (;;) wait(pid)
  } catch (error) {
    if (!(error instanceof ThreadEnded)) throw error
    const { change } = error
    if (!isOver) return `took longer than ${timeMsMax / 1000} s`
    if (change.kind === 'killed') return `was killed by signal ${change.signal}`
    return change.kind === 'exited' && change.code === 0 ? undefined : 'failed'
  }
}

const waitFor = (pid: number, milliseconds: number): boolean => {
  const handle = check('pidfd_open', pidfdOpen(pid, 0))
  const request = Buffer.alloc(8)
  request.writeInt32LE(handle, 0)
  request.writeInt16LE(1, 4)
  try {
    return check('poll', pollDescriptors(request, 1, milliseconds)) > 0
  } finally {
    close(handle)
  }
}

/** Its first error, which is the cause of the others; that it may not raise its own limits is none. */
const causeIn = (path: string): string | undefined => {
  if (!existsSync(path)) return undefined
  const lines = readFileSync(path, 'utf8').split('\n')
  const errors = lines.filter(line => /error|cannot|No space left/i.test(line))
  const cause = errors.find(line => !line.includes("rlimit: Can't setup"))
  return cause?.replace(/^\([\d.]+\)\s*(\d+:\s*)?/, '').trim()
}
