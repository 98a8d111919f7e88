import { closeSync, openSync } from 'node:fs'
import { inNamespacesOf } from './away.ts'
import { readKernelFile } from './kernel-file.ts'
import { libc, requireSuccess } from './libc.ts'
import { type StartCall, startCalls } from './starter.ts'

const wait4 = libc.func('wait4', 'int', ['int', 'void *', 'int', 'void *'])

/** The id that a thread has in its own pid namespace. */
export const innerId = (tid: number): number =>
  Number(/^NSpid:.*\s(\d+)$/m.exec(readKernelFile(`/proc/${tid}/status`))![1])

/** The last id in the reader's or writer's pid namespace. */
const file = '/proc/sys/kernel/ns_last_pid'
const fileDescriptor = 7

/**
 * Makes the next process or thread in the pid namespace of `pid` get the id after this one. A process of ours that
 * enters the namespace writes it, because a container may not. If this tool may not either, ids simply count on.
 */
export const setLastIdIn = (pid: number, id: number): void => {
  const own = openToWrite()
  if (own === undefined) return
  const text = String(id)
  const calls: StartCall[] = [
    { name: 'write', arguments: [fileDescriptor, text, text.length], least: text.length },
    { name: 'exit_group', arguments: [0] },
  ]
  try {
    const helper = inNamespacesOf(pid, ['pid'], () => startCalls(calls, [[own, fileDescriptor]]))
    requireSuccess('wait4', wait4(helper, null, allChildren, null))
  } finally {
    closeSync(own)
  }
}

const openToWrite = (): number | undefined => {
  try {
    return openSync(file, 'w')
  } catch {
    // Mounted read-only, for example in a container with few privileges.
    return undefined
  }
}

/** __WALL */
const allChildren = 0x4000_0000
