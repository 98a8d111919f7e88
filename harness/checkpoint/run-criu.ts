import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { awaitProcess, openProcess } from '../../linux/pidfd.ts'
import { waitForEnd } from '../../linux/ptrace.ts'
import { spawn } from '../../linux/spawn.ts'
import { sendSignal } from '../hold/start/launch.ts'
import { isInterrupted } from '../hold/turns/interruption.ts'
import type { Criu } from './criu.ts'
import { CannotCheckpoint } from './error.ts'

const timeMsMax = 20_000
const lookMs = 100

/** From util-linux: makes a program end together with this thread. */
const endWithUs = ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--']
/** Restored processes are in the cgroup namespace of CRIU, so it gets a new one. */
const around = { dump: [], restore: ['/usr/bin/unshare', '--cgroup', '--'] }

/**
 * Runs CRIU from this thread, in the thread's namespaces, and waits for its end.
 *
 * @param images descriptor of the directory of its files
 *
 * @param descriptors that it gets under the same numbers
 *
 * @returns why it failed; undefined if it succeeded
 */
export const runCriu = (
  { command }: Criu,
  what: 'dump' | 'restore',
  images: number,
  args: readonly string[],
  descriptors: readonly number[],
): string | undefined => {
  const directory = `/proc/self/fd/${images}`
  const errors = openSync(`${directory}/${what}.err`, 'w+')
  const pid = spawn({
    path: endWithUs[0]!,
    arguments: [
      ...endWithUs,
      ...around[what],
      ...command,
      what,
      '--images-dir',
      directory,
      '--log-file',
      `${what}.log`,
      ...args,
    ],
    environment: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    directory: '/',
    descriptors: [[errors, 2], ...[...descriptors, images].map(fd => [fd, fd] as const)],
  })
  closeSync(errors)
  return awaitEnd(pid)
}

/** @throws CannotCheckpoint with CRIU's message if it failed */
export const mustHaveSucceeded = (what: 'dump' | 'restore', failed: string | undefined, directory: string): void => {
  if (failed === undefined) return
  const cause = causeIn(join(directory, `${what}.log`)) ?? causeIn(join(directory, `${what}.err`))
  throw new CannotCheckpoint(`criu ${what} ${failed}${cause === undefined ? '' : `: ${cause}`}`)
}

/** Why a child of this thread failed; undefined if it succeeded. */
export const awaitEnd = (pid: number): string | undefined => {
  const isOver = waitFor(pid, timeMsMax)
  if (!isOver) sendSignal(pid, 9)
  const end = waitForEnd(pid)
  if (!isOver) return `took longer than ${timeMsMax / 1000} s`
  if (end.kind === 'killed') return `was killed by signal ${end.signal}`
  return end.kind === 'exited' && end.code === 0 ? undefined : 'failed'
}

const waitFor = (pid: number, milliseconds: number): boolean => {
  const handle = openProcess(pid)!
  const deadline = performance.now() + milliseconds
  try {
    for (;;) {
      if (awaitProcess(handle, lookMs)) return true
      if (performance.now() > deadline || isInterrupted()) return false
    }
  } finally {
    closeSync(handle)
  }
}

/** Messages that are not the cause: CRIU may not raise its own limits, and a node has no TUN device for it to try. */
const harmless = /rlimit: Can't setup|tun: Unable to create tun/

/** CRIU's first error, which caused the later ones. */
const causeIn = (path: string): string | undefined => {
  if (!existsSync(path)) return undefined
  const lines = readFileSync(path, 'utf8').split('\n')
  const errors = lines.filter(line => /error|cannot|No space left/i.test(line))
  const cause = errors.find(line => !harmless.test(line))
  return cause?.replace(/^\([\d.]+\)\s*(\d+:\s*)?/, '').trim()
}
