import { socketOf, withDuplicate } from '../../../linux/descriptor.ts'
import { getsockopt as getOption, setsockopt as setOption } from '../../../linux/libc.ts'
import { addressOf, portOf, tcpEntries, tcpState } from '../../../linux/tcp-table.ts'
import type { Unanswered } from '../../../proxy/network.ts'
import { userTimeoutMs } from '../calls/socket-timeouts.ts'
import { IPPROTO_TCP, userTimeoutOption } from '../calls/system-calls.ts'
import { millisecond, type Nanoseconds, second } from '../clock/virtual-clock.ts'
import type { HeldNode, Timer } from '../held/held-node.ts'
import { nap } from '../turns/turns.ts'

/**
 * Connections that nothing gets through, because the way is cut or the peer is down. After a time their node's kernel
 * gives them up with ETIMEDOUT. This time-out is a timer of the node, and counts from when the way was blocked. An open
 * way needs no timer, because retransmissions arrive in the end.
 */

const SOL_SOCKET = 1
const keepAlive = [SOL_SOCKET, 9] as const
const keepIdle = [IPPROTO_TCP, 4] as const
const keepInterval = [IPPROTO_TCP, 5] as const
const keepCount = [IPPROTO_TCP, 6] as const
const synCount = [IPPROTO_TCP, 7] as const
const info = [IPPROTO_TCP, 11] as const
type Option = readonly [level: number, name: number]

/**
 * tcp_syn_retries if a program sets none. In a node it is 127 (linux/namespace.ts), so that the kernel does not give
 * up.
 */
const synCountOfLinux = 6
const synCountOfNode = 127
/** The time between attempts doubles, up to this limit. */
const retryMax = 120 * second
/** tcp_retries2 is 15: the kernel sends again after 0.2 s, then after twice the time each, up to two minutes. */
const resentFor: Nanoseconds = 924_600 * millisecond

const read = (own: number, [level, name]: Option): number => {
  const value = Buffer.alloc(4)
  getOption(own, level, name, value, Buffer.from(Uint32Array.of(value.length).buffer))
  return value.readInt32LE()
}

const write = (own: number, [level, name]: Option, value: number): void => {
  setOption(own, level, name, Buffer.from(Int32Array.of(value).buffer), 4)
}

/**
 * Keeps a timer for each connection of the node that will be given up. Call it after each step.
 *
 * @param unanswered the node's connections that nothing gets through
 */
export const watchUnanswered = (node: HeldNode, unanswered: readonly Unanswered[]): void => {
  const deadlines = node.giveUpDeadlines
  if (deadlines.size > 0) node.giveUpDeadlines = new Map()
  if (unanswered.length === 0 && node.givesUp.size === 0) return
  const labels = new Set(unanswered.map(({ label }) => label))
  for (const [label, timer] of node.givesUp) {
    if (labels.has(label)) continue
    node.givesUp.delete(label)
    if (timer) node.timers.delete(timer)
  }
  for (const connection of unanswered) {
    if (!node.givesUp.has(connection.label)) watch(node, connection, deadlines)
    else if (isAbandoned(node, connection)) forget(node, connection)
  }
}

/** Whether its program has closed a socket whose request was not answered. Its kernel says nothing of that. */
const isAbandoned = (node: HeldNode, connection: Unanswered): boolean =>
  connection.kind === 'asks' &&
  node.givesUp.get(connection.label) !== undefined &&
  withSocket(node, connection, () => true) === undefined

const forget = (node: HeldNode, { label }: Unanswered): void => {
  node.timers.delete(node.givesUp.get(label)!)
  node.givesUp.set(label, undefined)
}

const watch = (node: HeldNode, connection: Unanswered, deadlines: HeldNode['giveUpDeadlines']): void => {
  const { label } = connection
  const timeout = withSocket(node, connection, own => timeoutOf(own, connection))
  const timer =
    timeout === undefined ? undefined : timerOf(node, connection, deadlines.get(label) ?? node.clock.elapsed + timeout)
  node.givesUp.set(label, timer)
  if (timer) node.timers.add(timer)
}

const timerOf = (node: HeldNode, connection: Unanswered, deadline: Nanoseconds): Timer => {
  const timer = {
    deadline,
    fire: () => {
      node.timers.delete(timer)
      node.givesUp.set(connection.label, undefined)
      if (connection.kind === 'denied') connection.deny()
      else withSocket(node, connection, own => giveUp(node, own, connection))
    },
  }
  return timer
}

/** Does something with the node's socket, if a process still has it. */
const withSocket = <Result>(
  node: HeldNode,
  { port, peer, peerPort }: Unanswered,
  use: (own: number) => Result,
): Result | undefined => {
  const entry = tcpEntries(node.pid).find(
    ({ local, remote, state }) =>
      state !== tcpState.listen && portOf(local) === port && portOf(remote) === peerPort && addressOf(remote) === peer,
  )
  if (entry === undefined) return undefined
  for (const { pid } of node.processes.values()) {
    const fd = socketOf(pid, [entry.inode])
    if (fd !== undefined) return withDuplicate(pid, fd, use)
  }
  return undefined
}

/** How long the kernel would keep trying; undefined if for ever. */
const timeoutOf = (own: number, { kind }: Unanswered): Nanoseconds | undefined => {
  const userMs = userTimeoutMs(own)
  const limit = userMs === undefined ? undefined : userMs * millisecond
  if (kind === 'asks') return Math.min(askingFor(read(own, synCount)), limit ?? Number.POSITIVE_INFINITY)
  if (kind === 'waits') return limit ?? resentFor
  if (read(own, keepAlive) === 0) return undefined
  const idle = read(own, keepIdle) * second
  if (kind === 'denied') return idle
  const interval = read(own, keepInterval) * second
  // With a time-out of the program's own, the kernel checks it at each probe but the first, and does not count probes.
  const probes = limit === undefined ? read(own, keepCount) : Math.max(1, Math.ceil((limit - idle) / interval))
  return idle + probes * interval
}

const askingFor = (count: number): Nanoseconds => {
  let sum = 0
  const attempts = count === synCountOfNode ? synCountOfLinux : count
  for (let attempt = 0; attempt <= attempts; attempt++) sum += Math.min(second * 2 ** attempt, retryMax)
  return sum
}

/** Offsets in struct tcp_info: the state, and the number of unanswered probes. */
const [stateAt, probesAt] = [0, 3]
/**
 * How long to wait for the kernel's check of time-outs, in real time. It happens every second, by a thread of the kernel
 * with ordinary scheduling, which may wait for seconds on a CPU that held nodes keep busy.
 */
const patienceMs = 30_000

/** Makes the kernel give up a connection when its own timer next expires, within a second. */
const giveUp = (node: HeldNode, own: number, { kind, label }: Unanswered): void => {
  const begun = performance.now()
  write(own, userTimeoutOption, kind === 'asks' ? 1 : 0)
  if (kind !== 'asks') probeAtOnce(own)
  const state = Buffer.alloc(probesAt + 1)
  while (performance.now() - begun < patienceMs) {
    const length = Buffer.from(Uint32Array.of(state.length).buffer)
    if (getOption(own, info[0], info[1], state, length) !== 0 || state[stateAt] === tcpState.closed) return
    // The kernel's timers may need one of its threads, which has ordinary scheduling.
    nap()
    // The first probe is out. Nobody answers it, because nobody takes it from the node's network meanwhile.
    if (kind !== 'asks' && state[probesAt]! > 0) write(own, keepIdle, 1)
  }
  node.note(`the kernel has not given up ${label} in ${patienceMs} ms: it goes on`)
}

/** Sets the shortest keep-alive times: the connection ends after one unanswered probe. */
const probeAtOnce = (own: number): void => {
  write(own, keepCount, 1)
  write(own, keepInterval, 1)
  write(own, keepIdle, 1)
  write(own, keepAlive, 1)
}
