import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { getSystemErrorMap } from 'node:util'
import { credentialsOf, limitTo, noNewPrivileges, setCapabilities } from '../../linux/privileges.ts'
import {
  closeOthers,
  failureIn,
  type StartCall,
  starter,
  starterDescriptor,
  whatever,
  withCalls,
} from '../../linux/starter.ts'
import type { ExecResult } from '../config/config.ts'

/** The node in which a client or observer wants to run a program. */
export interface Inside {
  /** Process id of the node's first process. */
  readonly pid: number
  readonly environment: Readonly<Record<string, string>>
  readonly directory: string
}

/**
 * Runs a program as the node would, in real time: in the namespaces of its first process, as that process's user, with
 * its privileges and limits. The program sees nothing of this tool's environment.
 *
 * `nsenter` enters the namespaces in a process of its own. This thread stays where it is.
 *
 * @param msMax after which it is killed, with everything that it started in its process group
 *
 * @param begun is called with the number of its process group
 *
 * @returns undefined if it was killed
 */
export const runInside = async (
  inside: Inside,
  command: readonly string[],
  msMax: number,
  begun: (group: number) => void = () => {},
): Promise<ExecResult | undefined> => {
  const enter = [`--target=${inside.pid}`, '--mount', '--uts', '--ipc', '--net', '--pid', '--cgroup', '--']
  const child = withCalls(callsInside(inside, command), calls =>
    spawn('nsenter', [...enter, `/proc/self/fd/${starterPlace}`], {
      env: { PATH: process.env.PATH },
      // The layout that the starter and `callsInside` expect.
      stdio: ['ignore', 'pipe', 'pipe', starter(), ...unused, 'pipe', calls],
      detached: true,
    }),
  )
  if (child.pid !== undefined) begun(child.pid)
  const enough = new AbortController()
  const late = sleep(msMax, 'late' as const, { signal: enough.signal }).catch(() => 'late' as const)
  const ended = await Promise.race([outcomeOf(child, command[0]!), late])
  enough.abort()
  if (ended !== 'late') return ended
  killGroup(child.pid)
  return undefined
}

/** @throws if it could not be started */
const outcomeOf = async (child: ChildProcess, program: string): Promise<ExecResult> => {
  const [stdout, stderr, report] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    buffer((child.stdio as readonly unknown[])[starterDescriptor.report] as Readable),
    once(child, 'exit'),
  ])
  const why = report.length > 0 ? `cannot run ${program}: ${reasonIn(report)}` : undefined
  return { exitCode: child.exitCode ?? -1, stdout: withoutEnd(stdout), stderr: why ?? withoutEnd(stderr) }
}

const withoutEnd = (text: string): string => text.replace(/\r?\n$/, '')

/** Why the starter could not go on, by its report. */
export const reasonIn = (report: Buffer): string => {
  const { errno } = failureIn(report)
  const [code, meaning] = getSystemErrorMap().get(-errno) ?? [`errno ${errno}`, 'unknown error']
  return `${code} (${meaning})`
}

const starterPlace = 3
/** Unused descriptors between the starter's and the one to which it reports. */
const unused = ['ignore', 'ignore', 'ignore', 'ignore'] as const

/** The limit on a turn, which the tool sets itself (RLIMIT_RTTIME), must not be passed on. */
const turnLimit = 15

/** The calls of the starter in the namespaces of a node: it becomes this program, as the node would run it. */
export const callsInside = ({ pid, environment, directory }: Inside, command: readonly string[]): StartCall[] => {
  const { user, group, groups, permitted, bounding, hasNoNewPrivileges } = credentialsOf(`/proc/${pid}/status`)
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  return [
    closeOthers,
    ...limitsOf(pid),
    ...limitTo(bounding),
    ...(user === 0 ? [] : [{ name: 'setgroups', arguments: [groups.length, listOf(groups)] } as const]),
    { name: 'setresgid', arguments: [group, group, group] },
    { name: 'setresuid', arguments: [user, user, user] },
    ...(user === 0 ? [setCapabilities(permitted)] : []),
    ...(hasNoNewPrivileges ? [noNewPrivileges] : []),
    { name: 'chdir', arguments: [directory] },
    ...pathsOf(command[0]!, environment).map(
      (path, index, { length }): StartCall => ({
        name: 'execve',
        arguments: [path, command, variables],
        least: index === length - 1 ? 0 : whatever,
      }),
    ),
  ]
}

const listOf = (groups: readonly number[]) => Buffer.from(Uint32Array.from(groups).buffer)

/** Where the node would look for the program. */
const pathsOf = (program: string, { PATH = '' }: Inside['environment']): string[] =>
  program.includes('/') ? [program] : PATH.split(delimiter).map(place => join(place, program))

/** By number (getrlimit(2)). */
const limitNames = [
  'Max cpu time',
  'Max file size',
  'Max data size',
  'Max stack size',
  'Max core file size',
  'Max resident set',
  'Max processes',
  'Max open files',
  'Max locked memory',
  'Max address space',
  'Max file locks',
  'Max pending signals',
  'Max msgqueue size',
  'Max nice priority',
  'Max realtime priority',
  'Max realtime timeout',
]
const unlimited = 0xffff_ffff_ffff_ffffn

const limitsOf = (pid: number): StartCall[] => {
  const lines = readFileSync(`/proc/${pid}/limits`, 'latin1')
  return limitNames.flatMap((name, resource): StartCall[] => {
    const found = new RegExp(`^${name}\\s+(\\S+)\\s+(\\S+)`, 'm').exec(lines)
    if (found === null || resource === turnLimit) return []
    const [soft, hard] = [found[1]!, found[2]!].map(word => (word === 'unlimited' ? unlimited : BigInt(word)))
    const limits = Buffer.from(BigUint64Array.of(soft!, hard!).buffer)
    return [{ name: 'prlimit64', arguments: [0, resource, limits, 0], least: whatever }]
  })
}

const killGroup = (pid: number | undefined): void => {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // The process has ended meanwhile.
  }
}
