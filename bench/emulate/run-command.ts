import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const command = join(import.meta.dirname, '../../../bin/lastnail.js')

interface Ran {
  /** Of the whole command, by the wall. */
  readonly seconds: number
  /** Its last line. */
  readonly result: Record<string, unknown>
  readonly stderr: string
}

/**
 * Runs a command of this package with `--json`.
 *
 * @param stderr `inherit` shows at once what the command says, which is not in the result then
 *
 * @throws Error if it printed no result
 */
export const runCommand = (
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  stderr: 'pipe' | 'inherit' = 'pipe',
): Ran => {
  const begun = performance.now()
  const { stdout, stderr: said } = spawnSync(process.execPath, [command, ...args, '--json'], {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', stderr],
  })
  const seconds = (performance.now() - begun) / 1000
  const last = stdout.trimEnd().split('\n').at(-1)
  if (!last?.startsWith('{')) throw new Error(`${args.join(' ')}: ${said?.trim()}`)
  return { seconds, result: JSON.parse(last), stderr: said ?? '' }
}
