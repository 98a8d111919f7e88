import { existsSync, readFileSync } from 'node:fs'
import { MachineLacks } from '../command/exit-code.ts'

/** Descriptors of a node: a namespace, a device and two output streams; and those of the tool itself. */
const descriptorsOfNode = 4
const descriptorsOfTool = 200
/** Tasks of a node: the first process of its namespace, and its program with some threads. */
const tasksOfNode = 12
/** Memory of a network namespace with the smallest programs. */
const bytesOfNode = 2 << 20

/**
 * Checks that this machine has room for this many nodes, as far as that can be predicted.
 *
 * @throws MachineLacks with one line for each resource that is too small
 */
export const requireRoom = (nodes: number): void => {
  const lacking = [
    lacks('open files', descriptorsOfTool + nodes * descriptorsOfNode, openFilesMax(), 'raise ulimit -n'),
    lacks(
      'processes and threads',
      nodes * tasksOfNode,
      tasksLeft(),
      'raise pids.max of the control group, or kernel.pid_max',
    ),
    lacks('MB of memory', (nodes * bytesOfNode) / 1e6, memoryLeft() / 1e6, 'end something else, or run fewer nodes'),
  ].flat()
  if (lacking.length > 0) throw new MachineLacks(lacking.join('\n'))
}

const lacks = (what: string, needed: number, there: number, remedy: string): string[] =>
  needed <= there
    ? []
    : [`this machine lacks ${what}: ${Math.round(needed)} are needed, ${Math.round(there)} left; ${remedy}`]

const openFilesMax = () => {
  const [, max] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  return max === 'unlimited' ? Number.POSITIVE_INFINITY : Number(max)
}

const tasksLeft = () => {
  const [group] = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.slice(1) ?? []
  const limit = numberIn(`/sys/fs/cgroup${group}/pids.max`) - (numberIn(`/sys/fs/cgroup${group}/pids.current`, 0) || 0)
  return Math.min(limit, numberIn('/proc/sys/kernel/pid_max'), numberIn('/proc/sys/kernel/threads-max'))
}

const numberIn = (path: string, otherwise = Number.POSITIVE_INFINITY) => {
  const number = existsSync(path) ? Number(readFileSync(path, 'utf8')) : Number.NaN
  return Number.isNaN(number) ? otherwise : number
}

const memoryLeft = () => {
  const [, kilobytes] = /^MemAvailable:\s+(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))!
  return Number(kilobytes) * 1024
}
