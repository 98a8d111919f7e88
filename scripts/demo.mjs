// Checks a real service that nobody here wrote, and ends well where that finds what is to be found.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const args = ['check', 'examples/liferaft/lastnail.config.ts', '--for', '5m']

console.error(`
Three processes of liferaft, a Raft library as it is published on npm: is there ever more than one leader in a term?
$ lastnail ${args.join(' ')}
`)
const { status } = spawnSync(process.execPath, ['bin/lastnail.js', ...args], { cwd: root, stdio: 'inherit' })
if (status === 1) console.error('\nHow that comes about, line by line: examples/liferaft/README.md')
process.exitCode = status === 1 ? 0 : status === 0 ? 1 : (status ?? 70)
