/**
 * Local model checking of three Paxos members and one proposal, to the end ("Model Checking a Networked System Without the
 * Network", section 5): depth-first search, LMC-GEN and LMC-OPT over states in memory, and LMC-OPT over real processes. Each
 * has its own process. With `--two`: two proposals over real processes, for an hour or `--for DURATION`.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { LocalOptions } from '../checker/searches/local/local.ts'
import { searchDepthFirst } from '../test/checker/systems/handlers.ts'
import { agreement, paxos } from '../test/checker/systems/paxos.ts'
import { searchAlone } from '../test/checker/systems/search-alone.ts'
import { runCommand } from './emulate/run-command.ts'

const { values: options } = parseArgs({
  options: {
    part: { type: 'string' },
    two: { type: 'boolean', default: false },
    for: { type: 'string', default: '1h' },
  },
})

interface Figures {
  readonly transitions: number
  readonly localStates?: number
  readonly systemStates?: number
  readonly soundnessChecks?: number
  readonly exhausted?: boolean
}

const oneProposal = paxos({ leaders: ['n1'] })

const depthFirst = (): Figures => {
  const { transitions, states } = searchDepthFirst(oneProposal)
  return { transitions, systemStates: states, exhausted: true }
}

const searchLocally = async (how: Pick<LocalOptions<unknown>, 'combining' | 'evaluationsMax'>): Promise<Figures> =>
  (await searchAlone(oneProposal, { properties: { agreement }, ...how })).local

const parts: Readonly<Record<string, () => Figures | Promise<Figures>>> = {
  'depth-first': depthFirst,
  'LMC-GEN': () => searchLocally({ combining: 'all', evaluationsMax: Number.POSITIVE_INFINITY }),
  'LMC-OPT': () => searchLocally({}),
}

/** The figures of a part, with its seconds and how many megabytes its process grew. */
const measure = async (part: string): Promise<Figures & { seconds: number; megabytes: number }> => {
  const before = process.resourceUsage().maxRSS
  const begun = performance.now()
  const figures = await parts[part]!()
  const seconds = (performance.now() - begun) / 1000
  return { ...figures, seconds, megabytes: (process.resourceUsage().maxRSS - before) / 1024 }
}

const inOwnProcess = (part: string): Awaited<ReturnType<typeof measure>> => {
  const { stdout, stderr } = spawnSync(process.execPath, [import.meta.filename, '--part', part], { encoding: 'utf8' })
  if (stdout === '') throw new Error(`${part}: ${stderr}`)
  return JSON.parse(stdout)
}

const config = join(import.meta.dirname, 'local.config.js')

const show = (what: string, figures: Figures, seconds: number, megabytes?: number): void => {
  const { transitions, localStates, systemStates, soundnessChecks, exhausted } = figures
  const cells = [transitions, localStates, systemStates, soundnessChecks].map(
    figure => figure?.toLocaleString('en') ?? '',
  )
  console.log(
    `| ${[what, ...cells, exhausted ? 'yes' : 'no', seconds.toFixed(3), megabytes?.toFixed(1) ?? ''].join(' | ')} |`,
  )
}

/** On real processes, as a user's command. */
const check = (what: string, leaders: number, time: string): void => {
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-local-'))
  try {
    const budget = ['--search', 'local', '--for', time, '--workers', '2', '--out', directory]
    const { seconds, result } = runCommand(['check', config, ...budget], { LEADERS: String(leaders) })
    show(`${what} (${result.verdict})`, result.local as Figures, seconds)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

if (options.part) console.log(JSON.stringify(await measure(options.part)))
else {
  console.log('| search | transitions | local states | states of the system | soundness checks | to its end | s | MB |')
  console.log('| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |')
  if (options.two) check('LMC-OPT, real processes, two proposals', 2, options.for)
  else {
    for (const part of Object.keys(parts)) {
      const { seconds, megabytes, ...figures } = inOwnProcess(part)
      show(`${part}, in memory`, figures, seconds, megabytes)
    }
    check('LMC-OPT, real processes', 1, '10m')
  }
}
