import { setTimeout as sleep } from 'node:timers/promises'
import { portOf, tcpEntries, tcpState } from '../../linux/tcp-table.ts'
import type { ResolvedNode } from '../config/config.ts'
import { handleOf } from './native-handle.ts'
import type { NativeNode } from './native-node.ts'

/** Nobody waits longer for a node, in milliseconds. */
const startMsMax = 60_000
const pollMs = 20

/**
 * The nodes in an order in which each comes after the nodes that must be ready before it starts.
 *
 * @param names of the nodes to start
 */
export const inOrderOfStart = (names: readonly string[], nodes: readonly ResolvedNode[]): readonly ResolvedNode[] => {
  const ordered = new Set<ResolvedNode>()
  const add = (name: string): void => {
    const node = nodes.find(each => each.name === name)!
    for (const before of awaitedBy(node, names)) add(before)
    ordered.add(node)
  }
  for (const name of names) add(name)
  return [...ordered]
}

/** Which of these nodes must be ready before a node is started. */
export const awaitedBy = ({ after }: Pick<ResolvedNode, 'after'>, names: readonly string[]): readonly string[] =>
  after.filter(name => names.includes(name))

/** Waits until a node is ready, has ended, or takes too long; or until the run is over. */
export const awaitReady = async (node: NativeNode, how: ResolvedNode, over: AbortSignal): Promise<void> => {
  const begun = performance.now()
  while (node.isAlive && !over.aborted && performance.now() - begun < startMsMax) {
    if (await isReady(node, how)) return
    await sleep(pollMs)
  }
}

const isReady = async (node: NativeNode, { listens, healthy, exits }: ResolvedNode): Promise<boolean> => {
  if (exits === 'completes') return false
  const open = openPorts(node)
  if (!listens.every(port => open.has(port))) return false
  if (healthy === undefined) return true
  const handle = handleOf(node)
  const result = await handle.exec(healthy).catch(() => undefined)
  handle.close()
  return result?.exitCode === 0
}

const openPorts = ({ pid }: NativeNode): Set<number> => {
  const listening = pid === undefined ? [] : tcpEntries(pid).filter(({ state }) => state === tcpState.listen)
  return new Set(listening.map(({ local }) => portOf(local)))
}
