import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRunDirectory, removeRunDirectory } from '../../harness/files/run-directory.ts'
import type { Emulation } from '../../harness/live/emulation.ts'
import { checkAsked, serve } from '../server.ts'
import { actionSchema } from './asked.ts'
import { metricsOf } from './metrics.ts'

/** What there is to know of a running system. */
export interface Running {
  readonly system: string
  readonly elapsedMs: number
  readonly nodes: readonly {
    readonly name: string
    readonly address: string
    readonly isAlive: boolean
    readonly isCut: boolean
  }[]
  /** What was laid on ways and not taken away. */
  readonly ways: ReturnType<Emulation['cluster']['settings']>
  /** Of a partition; null where there is none. */
  readonly groups: readonly (readonly string[])[] | null
}

/** Where a running system can be asked. */
export interface Control {
  readonly origin: string
  readonly token: string
}

/** In a run directory: where the system can be asked that runs there. Only its owner may read it. */
export const controlFile = 'control.json'

/**
 * Lets a running system be asked, and told what to do, over HTTP on loopback by whoever has the token.
 *
 * @param port 0: any
 * @throws UsageError where the port is taken
 */
export const openControl = async (emulation: Emulation, system: string, port: number) => {
  const running = (): Running => ({
    system,
    elapsedMs: Math.round(emulation.elapsedMs),
    nodes: emulation.cluster.nodes.map(node => ({
      name: node.name,
      address: node.address,
      isAlive: node.isAlive,
      isCut: emulation.cluster.isCut(node),
    })),
    ways: emulation.cluster.settings(),
    groups: emulation.cluster.groups,
  })
  const server = await serve(
    {
      reads: {
        list: () => ({ type: 'application/json', body: JSON.stringify(running()) }),
        metrics: () => ({ type: 'text/plain; version=0.0.4', body: metricsOf(emulation) }),
      },
      actions: {
        act: async asked => {
          await emulation.act(checkAsked(actionSchema, asked))
          return running()
        },
      },
    },
    port,
  )
  const directory = createRunDirectory()
  const { origin, token } = server
  writeFileSync(join(directory, controlFile), JSON.stringify({ origin, token } satisfies Control), { mode: 0o600 })
  return {
    origin,
    token,
    close: () => {
      removeRunDirectory(directory)
      server.close()
    },
  }
}
