import { Executor } from '../../checker/cells/executor.ts'
import { walk } from '../../checker/cells/walk.ts'
import type { Chooser } from '../../checker/choosers/chooser.ts'
import { prompt } from '../../checker/choosers/healthy.ts'
import { Budget, BudgetSpent } from '../../checker/system/budget.ts'
import { DoesNotStart } from '../../checker/system/errors.ts'
import { Random } from '../../checker/system/random.ts'
import { type Client, defineSystem, type NodeHandle } from '../../harness/config/config.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { inSession } from '../session/session.ts'

/** What was observed of a system that was started once. */
export interface FirstSight {
  /** TCP ports on which each node listens. */
  readonly ports: Readonly<Record<string, readonly number[]>>
  /** By node, the last JSON object that it printed. */
  readonly printed: Readonly<Record<string, object>>
  /** Ports that answered HTTP. */
  readonly pages: readonly Page[]
}

/** An answer to a GET. */
export interface Page {
  readonly node: string
  readonly port: number
  readonly path: string
  readonly status: number
  /** Its body, if that is a JSON object. */
  readonly object?: object
}

/** Where services are asked: what they are for, then how they are. */
const paths = ['/', '/state', '/status', '/health', '/healthz']
/** Limit on the ports that are asked, of all nodes together. */
const portsMax = 16
/** Steps in which nodes may come up before they are asked, and steps until all have answered. */
const [stepsOfStart, stepsMax] = [64, 2_000]
/** Limit on waiting for an answer, in milliseconds of real time. */
const patienceMs = 20_000

/**
 * Starts a system once, held as in a check, and asks each port over HTTP in a prompt network.
 *
 * @throws DoesNotStart, BudgetSpent if it takes too long to start or is interrupted, and whatever opening a session throws
 */
export const lookAt = async (config: LoadedConfig): Promise<FirstSight> => {
  const places: { readonly node: string; readonly port: number }[] = []
  /** By place: the order in which they answer is none that a person expects. */
  const pages: Page[][] = []
  // Each port has a client of its own: a call that is never answered keeps nobody else waiting.
  const look =
    (index: number): Client =>
    async nodes => {
      const place = places[index]
      if (place) pages[index] = await pagesOf(nodes[place.node]!, place.port)
    }
  const clients = Object.fromEntries(Array.from({ length: portsMax }, (_, index) => [`look${index}`, look(index)]))
  const { name, nodes } = config.definition
  const definition = defineSystem({ name, nodes, clients })
  return inSession({ ...config, definition }, {}, async ({ cluster, signal }) => {
    const executor = new Executor(cluster, {}, { allowFindings: true })
    executor.budget = new Budget({ milliseconds: patienceMs, signal })
    await executor.reset()
    if (executor.finding) throw new DoesNotStart(executor.finding)
    const chooser = prompt(new Random(1))
    const withoutCalls: Chooser = enabled => chooser(enabled.filter(({ kind }) => kind !== 'client'))
    await inTime(async () => {
      await walk(executor, withoutCalls, stepsOfStart, () => false)
      for (const [node, open] of Object.entries(cluster.listening)) places.push(...open.map(port => ({ node, port })))
      await walk(executor, chooser, stepsMax, () => !executor.hasCalls)
    })
    executor.end()
    const printed = cluster.views.flatMap(({ name, output }) => {
      const last = objectIn(output.stdout.trimEnd().split('\n').at(-1)!)
      return last ? [[name, last] as const] : []
    })
    return { ports: cluster.listening, printed: Object.fromEntries(printed), pages: pages.flat() }
  })
}

/** Ends at the time limit, with what was observed until then. */
const inTime = async (work: () => Promise<void>): Promise<void> => {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof BudgetSpent && error.what === 'time')) throw error
  }
}

/** A port's answer to HTTP; undefined if it does not speak HTTP. */
const pagesOf = async (node: NodeHandle, port: number): Promise<Page[]> => {
  const pages: Page[] = []
  try {
    for (const path of paths) {
      const { statusCode, body } = await node.http(port, path)
      const object = objectIn(await body.text())
      pages.push({ node: node.name, port, path, status: statusCode, ...(object && { object }) })
    }
  } catch {
    // It closed the connection, or said something else.
  }
  return pages
}

const objectIn = (text: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
