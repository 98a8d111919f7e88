/**
 * Says of services as their runtimes come whether one schedule gives one execution: `npm run bench:services -- [--times N]
 * [--steps N] [NAME…]`. Each is executed again and again by `lastnail repeat`, in a process of its own.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { services } from './services.ts'

const root = join(import.meta.dirname, '../../..')
const programs = join(root, 'bench/services/programs')

const { values, positionals } = parseArgs({
  options: { times: { type: 'string', default: '50' }, steps: { type: 'string', default: '100' } },
  allowPositionals: true,
})

interface Repeated {
  readonly times: number
  readonly same: number
  readonly steps: number
  readonly differs: { readonly node: string | null; readonly call: string | null; readonly seen: string } | null
}

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

const measure = (name: string): string => {
  const { needs, build, command } = services[name]!
  const lacking = needs.filter(program => !has(program))
  if (lacking.length > 0) return `not here: ${lacking.join(', ')}`
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-services-'))
  try {
    cpSync(programs, directory, { recursive: true })
    for (const [program, ...args] of build)
      execFileSync(program!, args, { cwd: directory, stdio: ['ignore', 'ignore', 2] })
    writeFileSync(join(directory, 'lastnail.config.ts'), configOf(name, command))
    const begun = performance.now()
    const { stdout, status } = spawnSync(
      process.execPath,
      [
        join(root, 'bin/lastnail.js'),
        'repeat',
        'lastnail.config.ts',
        '--times',
        values.times,
        '--steps',
        values.steps,
        '--json',
      ],
      { cwd: directory, encoding: 'utf8', stdio: ['ignore', 'pipe', 2] },
    )
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    const line = stdout.trimEnd().split('\n').at(-1)
    if (!line) return `exit ${status}`
    const { same, times, steps, differs } = JSON.parse(line) as Repeated
    const cause = differs ? `: ${differs.node} ${differs.call ?? 'no call'}; ${differs.seen.slice(0, 100)}` : ''
    return `${same} of ${times}, ${steps} steps, ${seconds} s${cause}`
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Two peers, each of which is called by two clients. */
const configOf = (name: string, command: (peer: string) => readonly string[]): string => `
import { defineSystem, jsonLines } from 'lastnail'
const call = async node => { await (await node.http(8080, '/')).body.text() }
export default defineSystem({
  name: ${JSON.stringify(name)},
  nodes: {
    p1: { command: ${JSON.stringify(command('{{p2.address}}'))}, listens: [8080] },
    p2: { command: ${JSON.stringify(command('{{p1.address}}'))}, listens: [8080] },
  },
  state: jsonLines('stdout'),
  clients: { a: { run: ({ p1 }) => call(p1), times: 10 }, b: { run: ({ p2 }) => call(p2), times: 10 } },
})
`

const names = positionals.length > 0 ? positionals : Object.keys(services)
for (const name of names) {
  if (services[name] === undefined) throw new Error(`no service ${name}: there are ${Object.keys(services).join(', ')}`)
  console.log(`${name}: ${measure(name)}`)
}
