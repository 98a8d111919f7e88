import { existsSync } from 'node:fs'
import { type StartCall, whatever } from './starter.ts'

const bind = 0x1000
const remount = 0x20
const readOnly = 1
/** MS_NOSUID | MS_NODEV | MS_NOEXEC */
const harmless = 2 | 4 | 8

/** Root may write there without any capability, and would change the machine. */
const machineWide = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/scsi', '/proc/sys', '/proc/sysrq-trigger']
/** Belongs to the pid namespace alone. Rewinding a node in place writes it. */
const lastId = '/proc/sys/kernel/ns_last_pid'

const mount = (source: string, target: string, type: string | 0, flags: number): StartCall => ({
  name: 'mount',
  arguments: [source, target, type, flags, 0],
})

const bindAgain = (path: string, flags: number): StartCall[] => [
  mount(path, path, 0, bind),
  mount(path, path, 0, bind | remount | harmless | flags),
]

/** Mounts the `/proc` of the process's own pid namespace, in which it cannot change settings of the machine. */
export const ownProc = (): readonly StartCall[] => {
  calls ??= [
    mount('proc', '/proc', 'proc', harmless),
    ...machineWide.filter(path => existsSync(path)).flatMap(path => bindAgain(path, readOnly)),
    // The file exists only if the kernel can restore process ids, so a failure is accepted.
    ...bindAgain(lastId, 0).map(call => ({ ...call, least: whatever })),
  ]
  return calls
}

let calls: readonly StartCall[] | undefined
