import type { ExecResult } from './config.ts'

/**
 * Runs a program in the namespaces of a process, in real time: it belongs to the observer, not to the node.
 *
 * `nsenter` enters them in a process of its own; this thread stays where it is.
 */
export const runInside = async (pid: number, command: readonly string[], directory: string): Promise<ExecResult> => {
  const where = [`--target=${pid}`, '--mount', '--uts', '--ipc', '--net', '--pid', `--wd=${directory}`]
  // Few systems need it, and every command would wait for it.
  const { execa } = await import('execa')
  const { exitCode, stdout, stderr } = await execa('nsenter', [...where, '--', ...command], {
    reject: false,
    stdin: 'ignore',
  })
  return { exitCode: exitCode ?? -1, stdout, stderr }
}
