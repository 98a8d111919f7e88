import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageRoot } from '../corpus/package-root.ts'
import { fetched } from '../services/fetched.ts'
import { installs, type PublicBug } from './bugs.ts'

/** What a check says, in words of its output. */
interface Checked {
  readonly verdict: string
  /** Until the violation was met, before it was examined. Undefined where nothing was violated. */
  readonly foundAfterSeconds: string | undefined
  readonly inExecution: string | undefined
  readonly steps: number | undefined
  readonly executions: string
  /** Of the tool and the nodes together, for the whole check with its examination, in seconds. */
  readonly cpuSeconds: number
}

/** Checks one release for one bug. Traces are written to a directory that is removed. */
export const checkBug = async (
  bug: PublicBug,
  release: string,
  options: { readonly for: string; readonly seed: string },
): Promise<Checked> => {
  const site = fetched(`${bug.system}-${release}`, installs[bug.system]!(release))
  const out = mkdtempSync(join(tmpdir(), 'lastnail-public-'))
  const config = join(packageRoot, 'bench/public', bug.system, `${bug.config ?? 'lastnail'}.config.ts`)
  const settings = ['--property', bug.property, '--for', options.for, '--seed', options.seed, '--out', out]
  const command = [process.execPath, join(packageRoot, 'bin/lastnail.js'), 'check', config, ...settings]
  try {
    // The shell knows the CPU time of all that it waited for, which Node.js does not.
    const shell = spawn('bash', ['-c', 'TIMEFORMAT="cpu %U %S"; time "$@"', 'bash', ...command], {
      env: { ...process.env, ...bug.environment, SITE: site },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [shell.stdout, shell.stderr])
      stream.setEncoding('utf8').on('data', chunk => {
        said += chunk
      })
    await once(shell, 'close')
    return checkedFrom(said)
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

const checkedFrom = (said: string): Checked => {
  const [, verdict] = /^(violated|held|undetermined)\b/m.exec(said) ?? []
  if (verdict === undefined) throw new Error(`no verdict: ${said}`)
  const [, foundAfterSeconds, inExecution] = /^found after ([\d.]+) s in execution (\d+(?:,\d{3})*)/m.exec(said) ?? []
  const [, executions = ''] = /^([\d,]+) executions?, /m.exec(said) ?? []
  const [, user, system] = /^cpu ([\d.]+) ([\d.]+)$/m.exec(said) ?? []
  const [, steps] = /does not hold after step (\d+)/.exec(said) ?? []
  return {
    verdict,
    foundAfterSeconds,
    inExecution,
    steps: steps === undefined ? undefined : Number(steps),
    executions,
    cpuSeconds: Number(user) + Number(system),
  }
}

export const rowOf = ({ id, publishedSeconds }: PublicBug, release: string, checked: Checked): string => {
  const { verdict, foundAfterSeconds, inExecution, steps, executions, cpuSeconds } = checked
  const found = foundAfterSeconds === undefined ? '' : `${foundAfterSeconds} s`
  const cells = [
    id,
    release,
    publishedSeconds === undefined ? '' : `${publishedSeconds} s`,
    found,
    `${cpuSeconds.toFixed(1)} s`,
    inExecution ?? '',
    steps ?? '',
    executions,
    verdict,
  ]
  return `| ${cells.join(' | ')} |`
}
