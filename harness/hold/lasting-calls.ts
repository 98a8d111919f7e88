import type { HeldProcess, HeldThread } from './held-node.ts'
import type { SyscallName } from './syscall-number.ts'

/**
 * Calls that change something which the kernel keeps, which nobody can read, or not at little cost, and which is not given
 * back when a life is brought back in place: they are counted, and a life that has made one is not lived again. The kernel
 * makes them as they are.
 */

/** What of the kernel a call changes: something of its process alone, or something that others see too. */
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

/** To be called where a thread is about to make such a call. */
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

/** Of a process and of its node, a text that is another after each such call. */
export const lastingCallsOf = ({ lastingCalls, node }: HeldProcess): string =>
  [lastingCalls, node.lastingCalls]
    .filter(({ count }) => count > 0)
    .map(({ count, last }) => `${count}, last ${last}`)
    .join('; ')
