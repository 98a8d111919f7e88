import { existsSync, readFileSync } from 'node:fs'
import { MachineLacks } from '../exit-code.ts'

/** A namespace, a device, and two streams of output; and what this tool has open itself. */
const descriptorsOfNode = 4
const descriptorsOfTool = 200
/** The first process of its namespace, and its program with some threads. */
const tasksOfNode = 12
/** Of a network namespace, and the smallest programs in it. */
const bytesOfNode = 2 << 20

/**
 * That so many nodes have room on this machine, as far as that can be told beforehand.
 *
 * @throws MachineLacks with one line for each thing that is too little
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
