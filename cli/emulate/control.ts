import { realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRunDirectory, removeRunDirectory } from '../../harness/files/run-directory.ts'
import { checkAsked, serve } from '../server.ts'
import { actionSchema, execSchema } from './asked.ts'
import { metricsOf } from './metrics.ts'
import type { Run, RunningNode } from './run.ts'

/** What there is to know of a running system. */
export interface Running {
  readonly system: string
  /** Where its trace is, and what nodes write. */
  readonly directory: string
  readonly elapsedMs: number
  readonly nodes: readonly RunningNode[]
  /** What was laid on ways and not taken away. */
  readonly ways: Run['ways']
  /** Of a partition; null where there is none. */
  readonly groups: readonly (readonly string[])[] | null
}

/** Where a running system can be asked. */
export interface Control {
  readonly origin: string
  readonly token: string
}

/** What a system that runs leaves in its run directory, for those who look for it. */
export interface ControlFile extends Control {
  readonly system: string
  readonly directory: string
}

/** In a run directory: where the system can be asked that runs there. Only its owner may read it. */
export const controlFile = 'control.json'

/**
 * Lets a running system be asked, and told what to do, over HTTP on loopback by whoever has the token.
 *
 * @param place the directory of the run
 * @param port 0: any
 * @throws UsageError where the port is taken
 */
export const openControl = async (run: Run, system: string, place: string, port: number) => {
  const where = realpathSync(place)
  const running = (): Running => ({
    system,
    directory: where,
    elapsedMs: Math.round(run.elapsedMs),
    nodes: run.nodes,
    ways: run.ways,
    groups: run.groups,
  })
  const server = await serve(
    {
      reads: {
        list: () => ({ type: 'application/json', body: JSON.stringify(running()) }),
        metrics: () => ({ type: 'text/plain; version=0.0.4', body: metricsOf(run) }),
      },
      actions: {
        act: async asked => {
          await run.act(checkAsked(actionSchema, asked))
          return running()
        },
        exec: asked => {
          const { node, command } = checkAsked(execSchema, asked)
          return run.exec(node, command)
        },
      },
    },
    port,
  )
  const directory = createRunDirectory()
  const { origin, token } = server
  writeFileSync(
    join(directory, controlFile),
    JSON.stringify({ origin, token, system, directory: where } satisfies ControlFile),
    {
      mode: 0o600,
    },
  )
  return {
    origin,
    token,
    close: () => {
      removeRunDirectory(directory)
      server.close()
    },
  }
}
