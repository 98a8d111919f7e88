import { readdirSync, readFileSync } from 'node:fs'
import { packageRoot } from '../corpus/package-root.ts'

/** Megabytes; memory shared by several processes is divided among them. */
export interface Memory {
  /** Of the command and its workers. */
  readonly tool: number
  /** Of the nodes' processes, including those that are kept to be rewound. */
  readonly nodes: number
}

/** The present memory of a command and of all processes that it started. */
export const memoryOf = (pid: number): Memory => {
  let [tool, nodes] = [0, 0]
  for (const each of withDescendants(pid)) {
    const megabytes = megabytesOf(each)
    if (read(`/proc/${each}/cmdline`).includes(packageRoot)) tool += megabytes
    else nodes += megabytes
  }
  return { tool, nodes }
}

const withDescendants = (pid: number): number[] => {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc').filter(each => /^\d+$/.test(each))) {
    const parent = Number(/^PPid:\t(\d+)$/m.exec(read(`/proc/${name}/status`))?.[1])
    children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const all = [pid]
  for (const each of all) all.push(...(children.get(each) ?? []))
  return all
}

const megabytesOf = (pid: number): number =>
  Number(/^Pss:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) / 1024

/** Empty if the process has ended meanwhile. */
const read = (path: string): string => {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
