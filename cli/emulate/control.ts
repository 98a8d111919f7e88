import { realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sentenceOf } from '../../checker/happening/happenings.ts'
import type { Run, RunningNode } from '../../harness/emulation/run.ts'
import { createRunDirectory, removeRunDirectory } from '../../harness/files/run-directory.ts'
import type { Happening } from '../../harness/timed/timing.ts'
import { readHappening, readScript } from '../../topologies/churn/script.ts'
import { type Content, checkAsked, serve } from '../command/server.ts'
import { actionSchema, addSchema, execSchema, lineSchema, planSchema } from './asked.ts'
import { metricsOf } from './metrics.ts'
import { seenOf } from './plots/run-page.ts'
import { serveTerminal, terminalSchema } from './terminal/serve.ts'

/** The state of a running system. */
export interface RunState {
  readonly system: string
  /** Directory of its trace and of the nodes' output. */
  readonly directory: string
  readonly elapsedMs: number
  readonly nodes: readonly RunningNode[]
  /** Settings on links that were set and not cleared. */
  readonly ways: Run['ways']
  /** How links of the topology differ from what they were at the start. */
  readonly links: Run['links']
  /** Groups of the partition; null if there is none. */
  readonly groups: readonly (readonly string[])[] | null
  /** What is planned by `control plan` and has not happened. */
  readonly planned: readonly { readonly atMs: number; readonly happening: string }[]
}

/** Address of a running system's control interface. */
export interface Control {
  readonly origin: string
  readonly token: string
}

/** Makes a page for whoever has the token. */
type Page = (token: string) => Content

/** The file that a running system leaves in its run directory for others to find it. */
export interface ControlFile extends Control {
  readonly system: string
  readonly directory: string
}

/** Name of that file. Only its owner may read it. */
export const controlFile = 'control.json'

/**
 * Opens the control interface of a running system, and says where: HTTP on loopback, for whoever has the token.
 *
 * @param asked `place`: the run directory; `port`: 0 for any free port; `page`: shown to whoever opens the address
 *
 * @throws UsageError if the port is taken
 */
export const openControl = async (
  run: Run,
  { system, place, port, page }: { system: string; place: string; port: number; page?: Page | undefined },
) => {
  const where = realpathSync(place)
  const running = (): RunState => ({
    system,
    directory: where,
    elapsedMs: Math.round(run.elapsedMs),
    nodes: run.nodes,
    ways: run.ways,
    links: run.links,
    groups: run.groups,
    planned: run.planned.map(event => ({ atMs: event.atMs, happening: sentenceOf(event) })),
  })
  const server = await serve(
    {
      reads: {
        ...(page && {
          '': page,
          seen: () => ({ type: 'application/json', body: JSON.stringify(seenOf(run)) }),
        }),
        list: () => ({ type: 'application/json', body: JSON.stringify(running()) }),
        metrics: () => ({ type: 'text/plain; version=0.0.4', body: metricsOf(run) }),
      },
      actions: {
        act: async asked => {
          await run.act(checkAsked(actionSchema, asked))
          return running()
        },
        line: async asked => {
          const { line } = checkAsked(lineSchema, asked)
          await run.act(readHappening(line) as Happening)
          return running()
        },
        plan: async asked => {
          const { script } = checkAsked(planSchema, asked)
          const names = run.nodes.map(({ name }) => name)
          const there = run.nodes.filter(({ isAlive, isCut }) => isAlive && !isCut).map(({ name }) => name)
          run.plan(readScript(script, names, there).events)
          return running()
        },
        add: async asked => {
          const { name, like } = checkAsked(addSchema, asked)
          await run.add(name, like)
          return running()
        },
        exec: asked => {
          const { node, command } = checkAsked(execSchema, asked)
          return run.exec(node, command)
        },
      },
      conversations: {
        terminal: (asked, connection) => serveTerminal(run, checkAsked(terminalSchema, asked), connection),
      },
    },
    port,
  )
  const directory = createRunDirectory()
  const { origin, token, url } = server
  process.stderr.write(`lastnail: control at ${origin} with token ${token}\n`)
  if (page) process.stderr.write(`lastnail: page at ${url}\n`)
  writeFileSync(
    join(directory, controlFile),
    JSON.stringify({ origin, token, system, directory: where } satisfies ControlFile),
    {
      mode: 0o600,
    },
  )
  return {
    close: () => {
      removeRunDirectory(directory)
      server.close()
    },
  }
}
