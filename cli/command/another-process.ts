import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { packageRoot } from './package.ts'

const command = join(packageRoot, 'bin/lastnail.js')

/**
 * Runs this command once more, in a process of its own, which has begun when this returns and is asked to end by the
 * signal. Gives its exit code, null if a signal ended it, and what it printed.
 */
export const runCommand = async (
  args: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> => {
  const child = spawn(process.execPath, [...process.execArgv, command, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const end = () => void child.kill('SIGTERM')
  signal.addEventListener('abort', end)
  const said = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', text => {
      said[stream] += text
    })
  const [code] = (await once(child, 'close')) as [number | null]
  signal.removeEventListener('abort', end)
  return { code, ...said }
}
