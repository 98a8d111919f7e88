import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A directory that these commands have filled, now or in an earlier run. Other commands have another directory. Other users
 * can read it, because some services do not run as root.
 */
export const fetched = (name: string, commands: readonly (readonly string[])[]): string => {
  const directory = ownDirectory(join(tmpdir(), 'lastnail-fetched'))
  const hash = createHash('sha256').update(JSON.stringify(commands)).digest('hex').slice(0, 8)
  const filled = join(directory, `${name}-${hash}`)
  if (lstatSync(filled, { throwIfNoEntry: false })) return filled
  const partial = `${filled}.partial`
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial)
  for (const [program, ...args] of commands)
    execFileSync(program!, args, { cwd: partial, stdio: ['ignore', 'ignore', 2] })
  renameSync(partial, filled)
  return filled
}

/** Programs are run from there: another user's directory of that name is refused. */
const ownDirectory = (path: string): string => {
  mkdirSync(path, { recursive: true, mode: 0o755 })
  const { uid } = lstatSync(path)
  if (uid !== process.getuid!()) throw new Error(`${path} belongs to user ${uid}`)
  return path
}
