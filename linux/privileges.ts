import { readFileSync } from 'node:fs'
import type { StartCall } from './starter.ts'

/**
 * What root may do in a node, by the numbers of capabilities(7): the default capabilities of a Docker container, and as
 * the last one the right to choose the id of its next thread, which rewinding in place needs.
 */
const kept = {
  CHOWN: 0,
  DAC_OVERRIDE: 1,
  FOWNER: 3,
  FSETID: 4,
  KILL: 5,
  SETGID: 6,
  SETUID: 7,
  SETPCAP: 8,
  NET_BIND_SERVICE: 10,
  NET_RAW: 13,
  SYS_CHROOT: 18,
  MKNOD: 27,
  AUDIT_WRITE: 29,
  SETFCAP: 31,
  CHECKPOINT_RESTORE: 40,
} as const

/** A set of capabilities, one bit each. */
export type Capabilities = bigint

const keptSet = Object.values(kept).reduce((set, number) => set | (1n << BigInt(number)), 0n)

const setNoNewPrivileges = 38
const dropFromBoundingSet = 24
const capabilityVersion3 = 0x2008_0522

/** Calls that drop all other capabilities: root in the process has at most the allowed ones, whatever it executes. */
export const limitTo = (allowed: Capabilities): StartCall[] =>
  all()
    .filter(number => !has(allowed, number))
    .map(number => ({ name: 'prctl', arguments: [dropFromBoundingSet, number] }))

/** Gives the process these capabilities. Programs of other users that it executes inherit none. */
export const setCapabilities = (set: Capabilities): StartCall => {
  const header = Buffer.alloc(8)
  header.writeUInt32LE(capabilityVersion3, 0)
  const data = Buffer.alloc(24)
  for (const [half, bits] of [set & 0xffff_ffffn, set >> 32n].entries())
    for (const field of [0, 4]) data.writeUInt32LE(Number(bits), half * 12 + field)
  return { name: 'capset', arguments: [header, data] }
}

/** No program that it executes gains privileges from setuid or from capabilities of its file. */
export const noNewPrivileges: StartCall = { name: 'prctl', arguments: [setNoNewPrivileges, 1] }

/** Calls that reduce the privileges of a new process of ours to those of a node. */
export const dropPrivileges = (): StartCall[] => {
  const { permitted } = credentialsOf('/proc/thread-self/status')
  return [...limitTo(keptSet), setCapabilities(keptSet & permitted)]
}

/** User, groups and capabilities of a process. */
export interface Credentials {
  readonly user: number
  readonly group: number
  readonly groups: readonly number[]
  readonly permitted: Capabilities
  readonly bounding: Capabilities
  readonly hasNoNewPrivileges: boolean
}

/** @param path of its `status` in /proc */
export const credentialsOf = (path: string): Credentials => {
  const status = readFileSync(path, 'latin1')
  const fieldOf = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)![1]!.trim()
  const numbersOf = (name: string) => fieldOf(name).split(/\s+/).filter(Boolean).map(Number)
  return {
    user: numbersOf('Uid')[1]!,
    group: numbersOf('Gid')[1]!,
    groups: numbersOf('Groups'),
    permitted: BigInt(`0x${fieldOf('CapPrm')}`),
    bounding: BigInt(`0x${fieldOf('CapBnd')}`),
    hasNoNewPrivileges: fieldOf('NoNewPrivs') === '1',
  }
}

const has = (set: Capabilities, number: number) => (set & (1n << BigInt(number))) !== 0n

/** Numbers of all capabilities that this kernel knows. */
const all = (): number[] => {
  last ??= Number(readFileSync('/proc/sys/kernel/cap_last_cap', 'latin1'))
  return Array.from({ length: last + 1 }, (_, number) => number)
}

let last: number | undefined
