/** What a node may use of this machine. */
export interface NodeLimits {
  readonly memoryBytesMax: number
  /** Processes and threads. */
  readonly processesMax: number
  /** Of files in /dev/shm. */
  readonly shmBytesMax: number
  /** Of files that it writes to its disk. */
  readonly diskBytesMax: number
}

const units = ['B', 'kB', 'MB', 'GB']

/** As a configuration writes it: `256MB`. */
export const amountOf = (bytes: number): string => {
  const unit = bytes === 0 ? 0 : units.findLastIndex((_, index) => bytes % 1024 ** index === 0)
  return `${bytes / 1024 ** unit}${units[unit]}`
}

/** These limits protect a machine on which a dozen nodes run. Few services need more. */
export const defaultLimits: NodeLimits = {
  memoryBytesMax: 2 * 1024 ** 3,
  processesMax: 512,
  shmBytesMax: 256 * 1024 ** 2,
  diskBytesMax: 1024 ** 3,
}
