import { readFileSync } from 'node:fs'
import type { HeldNode } from './held-node.ts'

/**
 * How many bytes a node's processes, including ended ones, had to wait for the disk to read. What was found in memory
 * is not included. 0 if the kernel does not count it.
 */
export const bytesRead = ({ processes }: HeldNode): number => {
  let sum = 0
  for (const pid of processes.keys()) sum += ofProcess(pid)
  return sum
}

const ofProcess = (pid: number): number => {
  try {
    return Number(/^read_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
