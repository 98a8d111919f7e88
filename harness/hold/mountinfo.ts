import { readFileSync } from 'node:fs'

/** Something mounted in a mount namespace, as the kernel tells it (proc_pid_mountinfo(5)). */
export interface Mounted {
  readonly id: string
  /** Id of what it is mounted on. */
  readonly parent: string
  /** Of the file system: `0:42` */
  readonly device: string
  /** What of that file system is shown. */
  readonly root: string
  /** Where it is shown. */
  readonly path: string
  /** `ext4` */
  readonly type: string
  /** How it is shown there, and how the file system is: `ro`, `nosuid` */
  readonly options: readonly string[]
}

/** All that a process has mounted; nothing where it is gone, or another user's. */
export const mountsOf = (pid: number | 'self' | 'thread-self'): Mounted[] =>
  readIfThere(`/proc/${pid}/mountinfo`)
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      // Between the two are optional fields.
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

/** Space, tab, newline and backslash are written in octal. */
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
