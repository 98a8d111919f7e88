import { existsSync } from 'node:fs'
import { type Call, whatever } from './starter.ts'

const bind = 0x1000
const remount = 0x20
const readOnly = 1
/** MS_NOSUID | MS_NODEV | MS_NOEXEC */
const harmless = 2 | 4 | 8

/** Root may write there, whatever its capabilities, and changes the machine. */
const machineWide = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/scsi', '/proc/sys', '/proc/sysrq-trigger']
/** Of the pid namespace alone; bringing a node back in place writes it. */
const lastId = '/proc/sys/kernel/ns_last_pid'

const mount = (source: string, target: string, type: string | 0, flags: number): Call => ({
  name: 'mount',
  arguments: [source, target, type, flags, 0],
})

const bindAgain = (path: string, flags: number): Call[] => [
  mount(path, path, 0, bind),
  mount(path, path, 0, bind | remount | harmless | flags),
]

/** A process mounts the `/proc` of its own pid namespace, in which it cannot set anything of the machine. */
export const ownProc = (): readonly Call[] => {
  calls ??= [
    mount('proc', '/proc', 'proc', harmless),
    ...machineWide.filter(path => existsSync(path)).flatMap(path => bindAgain(path, readOnly)),
    // Only where the kernel can make processes again.
    ...bindAgain(lastId, 0).map(call => ({ ...call, least: whatever })),
  ]
  return calls
}

let calls: readonly Call[] | undefined
