import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageRoot } from '../corpus/package-root.ts'
import { type Checked, columnsOf } from './columns.ts'
import { fetched } from './fetched.ts'
import { type Memory, memoryOf } from './memory.ts'
import { type Service, services } from './services.ts'

export interface MeasureOptions {
  /** Executions. */
  readonly times: string
  /** Of the schedule; the service's own number by default. */
  readonly steps?: string | undefined
  /** If present, it is checked for this long instead. */
  readonly check?: string | undefined
}

interface Repeated {
  readonly times: number
  readonly same: number
  readonly steps: number
  readonly differs: { readonly node: string | null; readonly call: string | null; readonly seen: string } | null
}

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** A line about a service: how many executions were the same, or what a check found. */
export const measure = async (name: string, { times, steps, check }: MeasureOptions): Promise<string> => {
  const service = services[name]!
  const lacking = service.needs.filter(program => !has(program))
  if (lacking.length > 0) return `not here: ${lacking.join(', ')}`
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-services-'))
  try {
    const config = prepare(name, service, directory)
    return check
      ? await checked(config, directory, check)
      : await repeated(config, directory, times, steps ?? `${service.steps ?? 100}`)
  } catch (error) {
    return `not built: ${(error as Error).message.split('\n')[0]}`
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Puts programs, fetched files and the configuration in a directory that a service's own user can read. */
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

const repeated = async (config: string, directory: string, times: string, steps: string): Promise<string> => {
  const { answer, seconds, status } = await lastnail<Repeated>(
    directory,
    ['repeat', config, '--times', times, '--steps', steps],
    // Whoever reads the sizes of a process's mappings makes its threads wait where they map memory, and others run first.
    'no look at memory',
  )
  if (!answer) return `exit ${status}`
  const { differs } = answer
  const cause = differs ? `: ${differs.node} ${differs.call ?? 'no call'}; ${differs.seen.slice(0, 100)}` : ''
  return `${answer.same} of ${answer.times}, ${answer.steps} steps, ${seconds} s${cause}`
}

const checked = async (config: string, directory: string, duration: string): Promise<string> => {
  const { answer, status, memory } = await lastnail<Checked>(
    directory,
    ['check', config, '--for', duration],
    'look at memory',
  )
  return answer ? columnsOf(answer, memory) : `exit ${status}`
}

interface Answered<Answer> {
  readonly answer: Answer | undefined
  readonly status: number | null
  readonly seconds: string
  /** The maximum that was seen. */
  readonly memory: Memory
}

/** Measuring memory takes some milliseconds, which executions lose. */
const lookEveryMs = 3000

const lastnail = async <Answer>(
  cwd: string,
  args: readonly string[],
  looks: 'look at memory' | 'no look at memory',
): Promise<Answered<Answer>> => {
  const begun = performance.now()
  const command = spawn(process.execPath, [join(packageRoot, 'bin/lastnail.js'), ...args, '--json'], {
    cwd,
    stdio: ['ignore', 'pipe', 2],
  })
  let [stdout, memory] = ['', { tool: 0, nodes: 0 }]
  command.stdout!.setEncoding('utf8').on('data', chunk => {
    stdout += chunk
  })
  const look = setInterval(() => {
    if (looks === 'no look at memory') return
    const now = memoryOf(command.pid!)
    memory = { tool: Math.max(memory.tool, now.tool), nodes: Math.max(memory.nodes, now.nodes) }
  }, lookEveryMs)
  const [status] = await once(command, 'close').finally(() => clearInterval(look))
  const line = stdout.trimEnd().split('\n').at(-1)
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  return { answer: line ? (JSON.parse(line) as Answer) : undefined, status, seconds, memory }
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
