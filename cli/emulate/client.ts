import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { type NodeVerb, nodeVerbs } from '../../checker/happening/happenings.ts'
import { UsageError } from '../../checker/system/errors.ts'
import type { ExecResult } from '../../harness/config/config.ts'
import { runDirectories } from '../../harness/files/run-directory.ts'
import type { LinkChange } from '../../harness/timed/links.ts'
import type { Happening, WaySetting } from '../../harness/timed/timing.ts'
import type { PipeSettings } from '../../proxy/forwarding/pipe.ts'
import { type Control, type ControlFile, controlFile, type RunState } from './control.ts'

/** What may be asked of one node: `join`, `stop`, `kill` and others, as `lastnail control --help` explains them. */
type NodeActions = Readonly<Record<NodeVerb, (node: string) => Promise<RunState>>>

/** Queries and actions on a system that `lastnail emulate` runs. */
export interface Controller extends NodeActions {
  list(): Promise<RunState>
  /** In the text format of Prometheus. */
  metrics(): Promise<string>
  act(action: Happening): Promise<RunState>
  /** Adds a node that is like another one, at the pace native, and starts it. */
  add(name: string, like: string): Promise<RunState>
  /** Runs a program in a node's namespaces. */
  exec(node: string, command: readonly string[]): Promise<ExecResult>
  /** The same with the terminal of this process, at the pace native. Gives the program's exit code. */
  terminal(node: string, command: readonly string[]): Promise<number>
  /** Replaces what is planned besides the configuration: the lines of a script of churn, with times of the run. */
  plan(script: string): Promise<RunState>
  /** Resets the connections between two nodes. */
  reset(node: string, peer: string): Promise<RunState>
  /** Lets a node's wall clock jump, forwards or back. */
  clock(node: string, byMs: number): Promise<RunState>
  /** A name of the configuration means another node from here on. */
  name(name: string, node: string): Promise<RunState>
  /** Its disk fails in its next step in which it writes or syncs: `fails at sync 1`. */
  disk(node: string, how: string): Promise<RunState>
  /** Its threads give way in its next step: `before call 6`. */
  preempt(node: string, how: string): Promise<RunState>
  /** A system call does less than it should: `short read 1`. */
  calls(node: string, how: string): Promise<RunState>
  split(node: string, how: string): Promise<RunState>
  partition(...groups: readonly (readonly string[])[]): Promise<RunState>
  heal(): Promise<RunState>
  /** Sets all of them at once. */
  set(...ways: readonly WaySetting[]): Promise<RunState>
  /** Changes a link of the topology, in both directions. */
  link(change: LinkChange): Promise<RunState>
  /** Adds a pipe from one node to another, and with `both` also back. */
  impair(from: string, to: string, pipe: Partial<PipeSettings> | null, both?: boolean): Promise<RunState>
}

/**
 * A controller of a running system.
 *
 * @param where its address, its name or its run directory; by default this user's only running system
 *
 * @throws UsageError if none is running or several are; its methods reject with one for anything that the system
 * refuses
 */
export const control = (which?: Control | string): Controller => {
  const where = typeof which === 'object' ? which : runningSystem(which)
  const ask = async (method: 'GET' | 'POST', path: string, asked?: unknown): Promise<string> => {
    const authorization = `Bearer ${where.token}`
    const body = asked === undefined ? null : JSON.stringify(asked)
    // Every configuration loads this module but few control a system, so undici is loaded on first use.
    const { request } = await import('undici')
    const answer = await request(`${where.origin}/${path}`, { method, headers: { authorization }, body }).catch(
      cause => {
        throw new UsageError(`nothing answers at ${where.origin}: ${cause.message}`, { cause })
      },
    )
    const text = await answer.body.text()
    if (answer.statusCode === 200) return text
    throw new UsageError(JSON.parse(text).error)
  }
  const act = async (action: Happening): Promise<RunState> => JSON.parse(await ask('POST', 'act', action))
  const nodeActions = nodeVerbs.map(({ verb, says }) => [verb, (node: string) => act({ ...says, node } as Happening)])
  return {
    ...(Object.fromEntries(nodeActions) as NodeActions),
    act,
    add: async (name, like) => JSON.parse(await ask('POST', 'add', { name, like })),
    exec: async (node, command) => JSON.parse(await ask('POST', 'exec', { node, command })),
    terminal: async (node, command) => (await import('./terminal/use.ts')).useTerminal(where, node, command),
    plan: async script => JSON.parse(await ask('POST', 'plan', { script })),
    list: async () => JSON.parse(await ask('GET', 'list')),
    metrics: () => ask('GET', 'metrics'),
    reset: (node, peer) => act({ does: 'reset', node, peer }),
    clock: (node, byMs) => act({ does: 'clock', node, byMs }),
    name: (name, node) => act({ does: 'name', name, node }),
    disk: (node, how) => act({ does: 'disk', node, how }),
    preempt: (node, how) => act({ does: 'preempt', node, how }),
    calls: (node, how) => act({ does: 'calls', node, how }),
    split: (node, how) => act({ does: 'split', node, how }),
    partition: (...groups) => act({ does: 'partition', groups }),
    heal: () => act({ does: 'heal' }),
    set: (...ways) => act({ does: 'set', ways }),
    link: change => act({ does: 'link', ...change }),
    impair: (from, to, pipe, both = false) => {
      const settings = pipe === null ? null : { delayMs: 0, ...pipe }
      const there = { from, to, pipe: settings }
      return act({ does: 'set', ways: both ? [there, { from: to, to: from, pipe: settings }] : [there] })
    },
  }
}

/** @throws UsageError if no matching system is running, or several are */
const runningSystem = (which: string | undefined): ControlFile => {
  const all = runDirectories()
    .map(directory => join(directory, controlFile))
    .filter(path => existsSync(path))
    .map((path): ControlFile => JSON.parse(readFileSync(path, 'utf8')))
  const meant = which === undefined ? all : all.filter(isMeant(which))
  if (meant.length === 1) return meant[0]!
  if (all.length === 0) throw new UsageError('no system runs: lastnail emulate runs one')
  const there = (meant.length === 0 ? all : meant)
    .map(({ system, directory }) => `${system} in ${directory}`)
    .join(', ')
  throw new UsageError(
    meant.length === 0
      ? `no system ${which} runs: there is ${there}`
      : `${meant.length} systems run: say which by --run, a name or a directory: ${there}`,
  )
}

/** Matches a system by its name or its run directory. */
const isMeant = (which: string) => {
  const path = existsSync(which) ? realpathSync(which) : undefined
  return ({ system, directory }: ControlFile): boolean => system === which || directory === path
}
