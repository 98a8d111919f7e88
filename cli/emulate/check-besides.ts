import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { waitingForOthers } from '../../harness/hold/turns/interruption.ts'
import { onCpus } from '../../linux/affinity.ts'
import { packageRoot } from '../command/package.ts'

/** This command. A check from a state of a run is another process of it, with nodes of its own. */
const command = join(packageRoot, 'bin/lastnail.js')

/** Runs `lastnail check` in another process. Gives its exit code and what it printed. */
export const checkBesides = (
  args: readonly string[],
  { cpus, signal }: { readonly cpus: readonly number[]; readonly signal: AbortSignal },
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> =>
  waitingForOthers(async () => {
    const all = [...process.execArgv, command, 'check', ...args]
    const child = onCpus(cpus, () => spawn(process.execPath, all, { stdio: ['ignore', 'pipe', 'pipe'] }))
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
  })
