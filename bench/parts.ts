import { spawnSync } from 'node:child_process'

/**
 * Runs measurements one after the other, each in its own process: those named on the command line, or all.
 *
 * @param parts by name, the arguments of Node.js
 */
export const runParts = (parts: Readonly<Record<string, readonly string[]>>): void => {
  const wanted = process.argv.slice(2)
  const unknown = wanted.filter(name => !(name in parts))
  if (unknown.length > 0) throw new Error(`no part ${unknown.join(', ')}: there are ${Object.keys(parts).join(', ')}`)
  for (const [name, args] of Object.entries(parts)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    console.log(`${name}:`)
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
    if (status !== 0) process.exitCode = 1
  }
}
