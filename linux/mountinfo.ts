import { readFileSync } from 'node:fs'

/** A mount of a mount namespace, as the kernel shows it (proc_pid_mountinfo(5)). */
export interface Mounted {
  readonly id: string
  /** Id of the mount that it is mounted on. */
  readonly parent: string
  /** Device of the file system: `0:42` */
  readonly device: string
  /** The directory of that file system that is shown. */
  readonly root: string
  /** The path where it is shown. */
  readonly path: string
  /** `ext4` */
  readonly type: string
  /** Options of the mount and of the file system: `ro`, `nosuid` */
  readonly options: readonly string[]
}

/** All mounts of a process; none if it is gone or belongs to another user. */
export const mountsOf = (pid: number | 'self' | 'thread-self'): Mounted[] =>
  readIfThere(`/proc/${pid}/mountinfo`)
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      // Optional fields end with the hyphen.
      const [here, fileSystem] = line.split(' - ') as [string, string]
      const [id, parent, device, root, path, options] = here.split(' ') as [
        string,
        string,
        string,
        string,
        string,
        string,
      ]
      const [type, , ofAll] = fileSystem.split(' ') as [string, string, string]
      const all = [...options.split(','), ...ofAll.split(',')]
      return { id, parent, device, root: unescaped(root), path: unescaped(path), type, options: all }
    })

/** Spaces, tabs, newlines and backslashes are written in octal. */
const unescaped = (text: string) =>
  text.replaceAll(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)))

const readIfThere = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EINVAL', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return ''
    throw error
  }
}
