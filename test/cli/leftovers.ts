import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Where a link leads, if there is (still) something at its end. */
const link = (path: string): string[] => {
  try {
    return [readlinkSync(path)]
  } catch {
    return []
  }
}

export const processes = (): number[] => readdirSync('/proc').map(Number).filter(Boolean)

/** Those that work in a directory. */
export const processesIn = (directory: string): number[] =>
  processes().filter(pid => link(`/proc/${pid}/cwd`).includes(directory))

/** Of a process, on either place. */
export const runDirectoriesOf = (pid: number): string[] =>
  ['/dev/shm/lastnail', '/tmp/lastnail']
    .filter(existsSync)
    .flatMap(root => readdirSync(root))
    .filter(name => name.startsWith(`${pid}-`))

/** The words that a process was called with, each before a NUL; empty where it has ended. */
export const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}

/** Its number, command and state, what the kernel does for it, and the signals that wait for it. */
export const describeProcess = (pid: number): string => {
  const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'latin1')
  try {
    const states = read('status').match(/^(State|SigBlk|SigPnd|ShdPnd):.*$/gm) ?? []
    return [pid, commandOf(pid).replaceAll('\0', ' '), read('wchan'), ...states].join(' ')
  } catch {
    return `${pid} has ended`
  }
}

export const isWorker = (pid: number) => commandOf(pid).includes('worker.js')

export const childrenOf = (pid: number): number[] => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return [] // it has ended
  }
}
