import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../checker/errors.ts'
import { runDirectories } from '../../harness/files/run-directory.ts'
import type { Happening } from '../../harness/timed/action.ts'
import type { WaySetting } from '../../harness/timed/timing.ts'
import type { PipeSettings } from '../../proxy/forwarding/pipe.ts'
import { type Control, controlFile, type Running } from './control.ts'

/** What can be asked of a system that `lastnail emulate` runs, and done to it. */
export interface Controller {
  list(): Promise<Running>
  /** In the text format of Prometheus. */
  metrics(): Promise<string>
  act(action: Happening): Promise<Running>
  join(node: string): Promise<Running>
  stop(node: string): Promise<Running>
  kill(node: string): Promise<Running>
  /** Its links are taken away; `join` gives them back. */
  cut(node: string): Promise<Running>
  restart(node: string): Promise<Running>
  /** Connections between the two are reset. */
  reset(node: string, peer: string): Promise<Running>
  partition(...groups: readonly (readonly string[])[]): Promise<Running>
  heal(): Promise<Running>
  /** All of them at once. */
  set(...ways: readonly WaySetting[]): Promise<Running>
  /** One more pipe from one node to another, and back where `both`. */
  impair(from: string, to: string, pipe: Partial<PipeSettings> | null, both?: boolean): Promise<Running>
}

/**
 * A system that runs now.
 *
 * @param where it can be asked; by default the only one that runs for this user
 * @throws UsageError where none runs, or several do; and rejects with one for what the system refuses
 */
export const control = (where: Control = onlyOne()): Controller => {
  const ask = async (method: 'GET' | 'POST', path: string, asked?: unknown): Promise<string> => {
    const authorization = `Bearer ${where.token}`
    const body = asked === undefined ? null : JSON.stringify(asked)
    // Every configuration loads this module, and none waits for it to be used.
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
  const act = async (action: Happening): Promise<Running> => JSON.parse(await ask('POST', 'act', action))
  return {
    act,
    list: async () => JSON.parse(await ask('GET', 'list')),
    metrics: () => ask('GET', 'metrics'),
    join: node => act({ does: 'join', node }),
    stop: node => act({ does: 'leave', node, manner: 'stop' }),
    kill: node => act({ does: 'leave', node, manner: 'kill' }),
    cut: node => act({ does: 'leave', node, manner: 'cut' }),
    restart: node => act({ does: 'restart', node }),
    reset: (node, peer) => act({ does: 'reset', node, peer }),
    partition: (...groups) => act({ does: 'partition', groups }),
    heal: () => act({ does: 'heal' }),
    set: (...ways) => act({ does: 'set', ways }),
    impair: (from, to, pipe, both = false) => {
      const settings = pipe === null ? null : { delayMs: 0, ...pipe }
      const there = { from, to, pipe: settings }
      return act({ does: 'set', ways: both ? [there, { from: to, to: from, pipe: settings }] : [there] })
    },
  }
}

const onlyOne = (): Control => {
  const running = runDirectories()
    .map(directory => join(directory, controlFile))
    .filter(path => existsSync(path))
  if (running.length === 1) return JSON.parse(readFileSync(running[0]!, 'utf8'))
  throw new UsageError(
    running.length === 0
      ? 'no system runs: lastnail emulate runs one'
      : `${running.length} systems run: say which by --url and --token, as lastnail emulate printed them`,
  )
}
