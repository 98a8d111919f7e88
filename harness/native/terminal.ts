import { closeSync, readSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { ReadStream } from 'node:tty'
import { inNamespacesOf } from '../../linux/away.ts'
import { pipe } from '../../linux/libc.ts'
import { PseudoTerminal, TIOCSCTTY, type WindowSize } from '../../linux/pseudo-terminal.ts'
import { spawn } from '../../linux/spawn.ts'
import { reportLength, starter, starterDescriptor, withCalls } from '../../linux/starter.ts'
import { callsInside, type Inside, reasonIn } from '../clients/exec.ts'
import { endingOf } from './ending.ts'

/** How often it is looked whether the program has ended, in milliseconds. */
const pollMs = 20
/** How long nothing is written after its end, in milliseconds, until it counts as all, although another program may keep its terminal. */
const restMs = 100

/** A program in a node that has a terminal of its own. */
export interface Terminal {
  /** What the program writes is read from it, and what is written to it was typed. The program is hung up when it is destroyed. */
  readonly screen: Duplex
  resize(size: WindowSize): void
  /** Its exit code, when all that it wrote was read; after a signal, it is 128 plus its number. */
  readonly ended: Promise<number>
}

/** What a terminal is like. `kind` is for the program's `TERM`. */
export type TerminalKind = WindowSize & { readonly kind: string }

/**
 * Starts a program as the node would, with a terminal.
 *
 * @throws Error if it could not be started
 */
export const openTerminal = (inside: Inside, command: readonly string[], { kind, ...size }: TerminalKind): Terminal => {
  const terminal = new PseudoTerminal(size, `/proc/${inside.pid}/root`)
  let pid: number
  try {
    const environment = { ...inside.environment, TERM: kind }
    pid = begin({ ...inside, environment }, command, terminal.its)
  } catch (error) {
    closeSync(terminal.own)
    throw error
  } finally {
    closeSync(terminal.its)
  }
  const screen = new ReadStream(terminal.own)
  // Reading fails once no program has the terminal any more.
  screen.on('error', () => undefined)
  const closed = new Promise(resolve => screen.once('close', resolve))
  const ended = (async () => {
    let ending = endingOf(pid)
    for (; ending === undefined; ending = endingOf(pid)) await sleep(pollMs)
    for (let read = -1; !screen.destroyed && (read !== screen.bytesRead || screen.isPaused()); ) {
      read = screen.bytesRead
      await Promise.race([closed, sleep(restMs)])
      // On a busy machine it may be late, and must read before it is asked again.
      await nextTurn()
    }
    screen.destroy()
    return 'code' in ending ? ending.code : 128 + ending.signal
  })()
  return {
    screen,
    resize: to => {
      if (!screen.destroyed) terminal.resize(to)
    },
    ended,
  }
}

/** Returns the number of its process, which leads a session. */
const begin = (inside: Inside, command: readonly string[], terminal: number): number => {
  const report = pipe()
  const takeTerminal = { name: 'ioctl', arguments: [0, TIOCSCTTY, 0] } as const
  let pid: number
  try {
    pid = withCalls([takeTerminal, ...callsInside(inside, command)], calls =>
      inNamespacesOf(inside.pid, ['mnt', 'uts', 'ipc', 'net', 'pid', 'cgroup'], () =>
        spawn({
          path: `/proc/self/fd/${starter()}`,
          arguments: ['lastnail-starter'],
          environment: {},
          directory: '/',
          descriptors: [
            ...[0, 1, 2].map(number => [terminal, number] as const),
            [report.writeEnd, starterDescriptor.report],
            [calls, starterDescriptor.calls],
          ],
        }),
      ),
    )
  } catch (error) {
    closeSync(report.readEnd)
    throw error
  } finally {
    closeSync(report.writeEnd)
  }
  try {
    const failure = Buffer.alloc(reportLength)
    if (readSync(report.readEnd, failure) === 0) return pid
    while (endingOf(pid) === undefined);
    throw new Error(`cannot run ${command[0]}: ${reasonIn(failure)}`)
  } finally {
    closeSync(report.readEnd)
  }
}
