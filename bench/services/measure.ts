import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageRoot } from '../corpus/package-root.ts'
import { fetched } from './fetched.ts'
import { type Service, services } from './services.ts'

export interface MeasureOptions {
  /** Executions. */
  readonly times: string
  /** Of the schedule; the service's own number by default. */
  readonly steps?: string | undefined
  /** It is checked for so long instead. */
  readonly check?: string | undefined
}

interface Repeated {
  readonly times: number
  readonly same: number
  readonly steps: number
  readonly differs: { readonly node: string | null; readonly call: string | null; readonly seen: string } | null
}

interface Checked {
  readonly verdict: string
  readonly executions: number
  readonly notes: readonly string[]
}

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** A line about a service: how many executions were the same, or what a check found. */
export const measure = (name: string, { times, steps, check }: MeasureOptions): string => {
  const service = services[name]!
  const lacking = service.needs.filter(program => !has(program))
  if (lacking.length > 0) return `not here: ${lacking.join(', ')}`
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-services-'))
  try {
    const config = prepare(name, service, directory)
    return check
      ? checked(config, directory, check)
      : repeated(config, directory, times, steps ?? `${service.steps ?? 100}`)
  } catch (error) {
    return `not built: ${(error as Error).message.split('\n')[0]}`
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Puts programs, what was fetched and the configuration in a directory that a service's own user can read. */
export const prepare = (name: string, { fetch = [], build = [], system }: Service, directory: string): string => {
  chmodSync(directory, 0o755)
  cpSync(join(packageRoot, 'bench/services/programs'), directory, { recursive: true })
  symlinkSync(fetched(name, fetch), join(directory, 'cache'))
  for (const [program, ...args] of build)
    execFileSync(program!, args, { cwd: directory, stdio: ['ignore', 'ignore', 2] })
  if (typeof system === 'string') return system
  writeFileSync(join(directory, 'peers.config.ts'), peers(name, system))
  return 'peers.config.ts'
}

const repeated = (config: string, directory: string, times: string, steps: string): string => {
  const { answer, seconds, status } = lastnail<Repeated>(
    directory,
    'repeat',
    config,
    '--times',
    times,
    '--steps',
    steps,
  )
  if (!answer) return `exit ${status}`
  const { differs } = answer
  const cause = differs ? `: ${differs.node} ${differs.call ?? 'no call'}; ${differs.seen.slice(0, 100)}` : ''
  return `${answer.same} of ${answer.times}, ${answer.steps} steps, ${seconds} s${cause}`
}

const checked = (config: string, directory: string, duration: string): string => {
  const { answer, status } = lastnail<Checked>(directory, 'check', config, '--for', duration)
  if (!answer) return `exit ${status}`
  return [`${answer.verdict}, exit ${status}, ${answer.executions} executions`, ...answer.notes].join('; ')
}

interface Answered<Answer> {
  readonly answer: Answer | undefined
  readonly status: number | null
  readonly seconds: string
}

const lastnail = <Answer>(cwd: string, ...args: readonly string[]): Answered<Answer> => {
  const begun = performance.now()
  const { stdout, status } = spawnSync(process.execPath, [join(packageRoot, 'bin/lastnail.js'), ...args, '--json'], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 2],
  })
  const line = stdout.trimEnd().split('\n').at(-1)
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  return { answer: line ? (JSON.parse(line) as Answer) : undefined, status, seconds }
}

/** Two peers, each of which is called by two clients. */
const peers = (name: string, command: (peer: string) => readonly string[]): string => `
import { always, defineSystem, jsonLines } from 'lastnail'
const call = async node => { await (await node.http(8080, '/')).body.text() }
export default defineSystem({
  name: ${JSON.stringify(name)},
  nodes: {
    p1: { command: ${JSON.stringify(command('{{p2.address}}'))}, listens: [8080] },
    p2: { command: ${JSON.stringify(command('{{p1.address}}'))}, listens: [8080] },
  },
  state: jsonLines('stdout'),
  clients: { a: { run: ({ p1 }) => call(p1), times: 10 }, b: { run: ({ p2 }) => call(p2), times: 10 } },
  properties: { twoNodes: always(({ nodes }) => nodes.length === 2) },
})
`
