import { closeSync, constants, readdirSync, readFileSync, readSync } from 'node:fs'
import { basename } from 'node:path/posix'
import { innerId } from '../../../linux/ids.ts'
import { openFor } from '../../../linux/inside.ts'
import type { ProcessMemory } from '../../../linux/memory.ts'
import { residentKilobytes, ticksPerSecond } from '../calls/resources.ts'
import { type Nanoseconds, second, type VirtualClock } from '../clock/virtual-clock.ts'
import type { HeldProcess, HeldThread } from '../held/held-node.ts'
import { Randomness } from '../held/randomness.ts'
import { countersShown } from './counter-files.ts'

/**
 * Content of /proc files in a node, for files in which the kernel would tell about this machine's time, memory and
 * load.
 */

type Content = (thread: HeldThread) => string

/** Undefined for every other path, and for an unknown process. */
export const contentShown = (thread: HeldThread, path: string): string | undefined => {
  const content = machine[path]
  if (content) return content(thread)
  const [, id, task, name] = ofProcess.exec(path) ?? []
  try {
    return name === undefined ? counters(thread, path) : processContent(thread, id!, task, name)
  } catch {
    return undefined
  }
}

/** Seconds and hundredths. */
const hundredths = (seconds: number, nanoseconds: number) =>
  `${seconds}.${String(Math.floor(nanoseconds / 1e7)).padStart(2, '0')}`

const ticksOf = (time: Nanoseconds) => Math.floor((time * ticksPerSecond) / second)
/** Time from boot to the node's creation, during which the CPU counts as idle. */
const bootedSeconds = (clock: VirtualClock): number => clock.showAt(0, 'monotonic').seconds

const uptime: Content = ({ process: { node } }) => {
  const { seconds, nanoseconds } = node.clock.show('monotonic')
  return `${hundredths(seconds, nanoseconds)} ${hundredths(bootedSeconds(node.clock), 0)}\n`
}

const stat: Content = ({ process: { node } }) => {
  const { clock } = node
  const cpu = `${ticksOf(clock.elapsed)} 0 0 ${bootedSeconds(clock) * ticksPerSecond} 0 0 0 0 0 0`
  const booted = clock.showAt(clock.jumped, 'realtime').seconds - bootedSeconds(clock)
  return [
    `cpu  ${cpu}`,
    `cpu0 ${cpu}`,
    'intr 0',
    'ctxt 0',
    `btime ${booted}`,
    `processes ${node.threadsMade}`,
    'procs_running 1',
    'procs_blocked 0',
    'softirq 0 0 0 0 0 0 0 0 0 0 0',
    '',
  ].join('\n')
}

const loadavg: Content = ({ process: { node } }) => `0.00 0.00 0.00 1/${node.threads.length} ${node.threadsMade}\n`

/** As for `sysinfo`: half of the memory is free. */
const meminfo: Content = () => {
  const lines = readFileSync('/proc/meminfo', 'latin1')
  const total = Number(/^MemTotal:\s+(\d+)/m.exec(lines)![1])
  const shown = (name: string, value: string) => {
    if (constantMemory.has(name)) return value
    return name === 'MemFree' || name === 'MemAvailable' ? String(Math.floor(total / 2)) : '0'
  }
  return lines.replaceAll(
    /^([^:]+):( +)(\d+)/gm,
    (_, name: string, space: string, value: string) =>
      `${name}:${shown(name, value).padStart(space.length + value.length)}`,
  )
}

const constantMemory = new Set(['MemTotal', 'CommitLimit', 'VmallocTotal', 'Hugepagesize'])

/** The first CPU alone, as fast as it is at some time. */
const cpuinfo: Content = () =>
  `${readFileSync('/proc/cpuinfo', 'latin1')
    .split('\n\n')[0]!
    .replace(/^(cpu MHz\s*:).*$/m, '$1 1000.000')}\n\n`

const uuidOf = (randomness: Randomness): string => {
  const bytes = randomness.bytes(16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return `${bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}\n`
}

/** Each opening gets another content. */
export const uuidPath = '/proc/sys/kernel/random/uuid'

const machine: Readonly<Record<string, Content>> = {
  '/proc/uptime': uptime,
  '/proc/stat': stat,
  '/proc/loadavg': loadavg,
  '/proc/meminfo': meminfo,
  '/proc/cpuinfo': cpuinfo,
  [uuidPath]: ({ randomness }) => uuidOf(randomness),
  '/proc/sys/kernel/random/boot_id': ({ process: { node } }) => uuidOf(new Randomness(`${node.name} boot_id`)),
}

const ofProcessNames = ['stat', 'statm', 'status']
const ofProcess = new RegExp(`^/proc/(self|thread-self|\\d+)(?:/task/(\\d+))?/(${ofProcessNames.join('|')})$`)

/** Names of these files. */
export const shownNames = [...ofProcessNames, ...Object.keys(machine).map(path => basename(path))]

const counters = ({ process }: HeldThread, path: string): string | undefined =>
  countersShown(path, (id, name) => ofKernel(process.pid, `/proc/${groupOf(process, id)}/${name}`))

/** The process that an id in a path means, `self` among them. */
const groupOf = ({ innerPid }: HeldProcess, id: string): number => (id.endsWith('self') ? innerPid : Number(id))

const processContent = (thread: HeldThread, id: string, task: string | undefined, name: string): string => {
  const { process } = thread
  if (id === 'self' && task === undefined && name === 'stat') return statOf(ownStat(process), process)
  const { pid, node } = process
  const group = groupOf(process, id)
  const inner = id === 'thread-self' ? innerId(thread.tid) : task
  const text = ofKernel(pid, `/proc/${group}${inner === undefined ? '' : `/task/${inner}`}/${name}`)
  const whose = [...node.processes.values()].find(({ innerPid }) => innerPid === group)
  if (name === 'stat') return statOf(text, { node, begun: whose?.begun ?? 0 })
  return name === 'statm' ? statmOf(text) : statusOf(text, whose?.pid ?? pid)
}

/** PROC_SUPER_MAGIC */
const procFileSystem = 0x9fa0
const openOfKernel = (pid: number, path: string) => openFor(pid, path, constants.O_RDONLY, procFileSystem)

/** The kernel's content for a process. @throws SystemError if the process has something else in that place */
const ofKernel = (pid: number, path: string): string => {
  const file = openOfKernel(pid, path)
  try {
    return readFileSync(file, 'latin1')
  } finally {
    closeSync(file)
  }
}

/** Cached descriptors: this file is read repeatedly, and opening it takes ten times as long as reading. */
const ownStats = new WeakMap<ProcessMemory, number>()
const ownStatText = Buffer.alloc(4096)

const ownStat = ({ pid, innerPid, memory }: HeldProcess): string => {
  let file = ownStats.get(memory)
  if (file === undefined) {
    file = openOfKernel(pid, `/proc/${innerPid}/stat`)
    memory.closeToo(file)
    ownStats.set(memory, file)
  }
  return ownStatText.toString('latin1', 0, readSync(file, ownStatText, 0, ownStatText.length, 0))
}

const pageKilobytes = 4
const residentPages = residentKilobytes / pageKilobytes
/** Stopped by this tool. */
const stopped = 't'

/** The fields of proc_pid_stat(5), by their numbers there, from the third on. */
const statOf = (text: string, { node: { clock }, begun }: Pick<HeldProcess, 'node' | 'begun'>): string => {
  const end = text.lastIndexOf(')') + 2
  const fields = text.slice(end).trimEnd().split(' ')
  const set = (field: number, value: number | string) => {
    fields[field - 3] = String(value)
  }
  const get = (field: number) => fields[field - 3]!
  if (get(3) === stopped) set(3, 'R')
  // Page faults, system time, time of children; the call it waits in, CPU, rank, policy, delays.
  for (const field of [10, 11, 12, 13, 15, 16, 17, 35, 39, 40, 41, 42, 43, 44]) set(field, 0)
  set(14, ticksOf(clock.elapsed))
  set(18, 20 + Number(get(19)))
  set(22, bootedSeconds(clock) * ticksPerSecond + ticksOf(begun))
  set(24, residentPages)
  return `${text.slice(0, end)}${fields.join(' ')}\n`
}

const statmOf = (text: string): string => {
  const [size, , , code, , data] = text.trimEnd().split(' ')
  return `${size} ${residentPages} 0 ${code} 0 ${data} 0\n`
}

const statusLines: Readonly<Record<string, string>> = {
  VmHWM: `${residentKilobytes} kB`,
  VmRSS: `${residentKilobytes} kB`,
  RssAnon: `${residentKilobytes} kB`,
  RssFile: '0 kB',
  RssShmem: '0 kB',
  VmPTE: '0 kB',
  VmSwap: '0 kB',
  Cpus_allowed: '1',
  Cpus_allowed_list: '0',
  voluntary_ctxt_switches: '0',
  nonvoluntary_ctxt_switches: '0',
}

/**
 * A rewind does not undo the most memory that a process ever had: it is shown as what it has now. So is the size of its
 * table of descriptors, which a first process has from the tool.
 */
const statusOf = (text: string, pid: number): string =>
  text
    .replace(/^State:\tt.*$/m, 'State:\tR (running)')
    .replace(/^SigQ:\t\d+/m, 'SigQ:\t0')
    .replace(/^FDSize:\t\d+/m, () => `FDSize:\t${descriptorTableOf(pid)}`)
    .replace(/^VmPeak:.*(?=\nVmSize:(.*))/m, 'VmPeak:$1')
    .replaceAll(/^(\w+):.*$/gm, (line, name: string) => (name in statusLines ? `${name}:\t${statusLines[name]}` : line))

/** As the kernel grows the table (`alloc_fdtable`): 64 descriptors, or a power of two from 128 on. */
const descriptorTableOf = (pid: number): number => {
  const count = Math.max(...readdirSync(`/proc/${pid}/fd`).map(Number), 0) + 1
  return count <= 64 ? 64 : Math.max(128, 2 ** Math.ceil(Math.log2(count)))
}
