import { syscall } from '../../linux/libc.ts'
import { syscallNumber } from '../../linux/syscall-number.ts'
import type { Descriptor } from './open-descriptors.ts'

/** Kinds that are opened again only where no other descriptor is the same open file. */
const kinds: readonly Descriptor['kind'][] = ['file', 'epoll', 'event', 'unused']

/** The descriptors of a process. */
interface OpenIn {
  readonly pid: number
  readonly descriptors: readonly Descriptor[]
}

/** KCMP_FILE of kcmp(2) */
const openFiles = 0

/**
 * Notes which open files several descriptors have: after a fork, or a dup. One that was opened again would have a state of its own.
 *
 * @param processes of a node, each frozen
 */
export const noteSharedFiles = (processes: readonly OpenIn[]): void => {
  const sameName = new Map<string, { readonly pid: number; readonly descriptor: Descriptor }[]>()
  for (const { pid, descriptors } of processes)
    for (const descriptor of descriptors.filter(({ kind }) => kinds.includes(kind))) {
      const others = sameName.get(descriptor.link) ?? []
      sameName.set(descriptor.link, others)
      for (const other of others)
        if (isSameFile(pid, descriptor.fd, other.pid, other.descriptor.fd))
          for (const each of [descriptor, other.descriptor]) each.isShared = true
      others.push({ pid, descriptor })
    }
}

/** A kernel that does not tell gives -1. */
const isSameFile = (pid: number, fd: number, otherPid: number, otherFd: number): boolean =>
  syscall(syscallNumber.kcmp, pid, otherPid, openFiles, fd, otherFd, 0) <= 0
