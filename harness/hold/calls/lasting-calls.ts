import type { SyscallName } from '../../../linux/syscall-number.ts'
import type { HeldProcess, HeldThread } from '../held/held-node.ts'

/**
 * Calls with an effect in the kernel that cannot be read back cheaply, and that rewinding does not undo. They are
 * counted, and a life that made one is not lived again. The kernel makes them unchanged.
 */

/** What a call affects: only its process, or something that others see too. */
type Reach = 'process' | 'node'

const reaches: Partial<Record<SyscallName, Reach>> = {
  prctl: 'process',
  ioprio_set: 'process',
  timer_create: 'process',
  fcntl: 'node',
  setsockopt: 'node',
  setxattr: 'node',
  lsetxattr: 'node',
  fsetxattr: 'node',
  setxattrat: 'node',
  removexattr: 'node',
  lremovexattr: 'node',
  fremovexattr: 'node',
  removexattrat: 'node',
  file_setattr: 'node',
  mq_open: 'node',
  mq_unlink: 'node',
}

/** Call it when a thread is about to make such a call. */
export const countLasting = ({ process }: HeldThread, name: SyscallName): undefined => {
  const calls = (reaches[name] === 'process' ? process : process.node).lastingCalls
  calls.count += 1
  calls.last = name
  if (name === 'mq_open') process.node.hasQueues = true
}

/** Answers for the filter: each is counted, and the kernel makes it. */
export const lastingCalls: Partial<Record<SyscallName, (thread: HeldThread) => undefined>> = Object.fromEntries(
  (Object.keys(reaches) as SyscallName[])
    .filter(name => name !== 'setsockopt')
    .map(name => [name, (thread: HeldThread) => countLasting(thread, name)]),
)

/** A text that changes with each such call of the process or its node. */
export const lastingCallsOf = ({ lastingCalls, node }: HeldProcess): string =>
  [lastingCalls, node.lastingCalls]
    .filter(({ count }) => count > 0)
    .map(({ count, last }) => `${count}, last ${last}`)
    .join('; ')
