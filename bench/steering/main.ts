/**
 * CrystalBall's experiments with steering (section 5.4), at the pace `virtual`: `randtree`, `paxos` or `live`, each for some seeds, without
 * steering, with the immediate check, and with prediction too.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand } from '../emulate/run-command.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Runs, or of `live` seeds from 1. */
    runs: { type: 'string', default: '20' },
    for: { type: 'string' },
    /** Joins and leaves a minute. */
    churn: { type: 'string' },
    bug: { type: 'string' },
    system: { type: 'string', default: 'chord' },
    every: { type: 'string' },
    /** Of `randtree`: only one way to steer. */
    only: { type: 'string' },
  },
})

const directory = mkdtempSync(join(tmpdir(), 'lastnail-steering-'))
const here = import.meta.dirname

interface Summary {
  readonly verdict: string
  readonly steps: number
  readonly seconds: number
  readonly hash: string
  readonly properties: readonly { readonly name: string; readonly kind: string; readonly outages: number }[]
  readonly joins?: { readonly count: number; readonly p50: number; readonly p90: number }
  readonly predicted: number
  readonly steered: number
  readonly immediate: number
  readonly missed: number
  readonly predictions?: { readonly rounds: number; readonly inputs: number; readonly seconds: number }
}

type How = 'without' | 'check' | 'both'

const run = (config: string, how: How, args: readonly string[], environment: Record<string, string>): Summary => {
  const steering = how === 'without' ? [] : ['--steer', how]
  const every = how === 'both' && options.every ? ['--every', options.every] : []
  const { result } = runCommand(['emulate', config, ...steering, ...every, ...args, '--out', directory], environment)
  if (result.error) throw new Error(JSON.stringify(result.error))
  return result as unknown as Summary
}

/** How often a property that must always hold stopped holding. */
const inconsistencies = ({ properties }: Summary): number =>
  properties.filter(({ kind }) => kind === 'always').reduce((sum, { outages }) => sum + outages, 0)

const line = (...cells: readonly (string | number)[]): void => console.log(`| ${cells.join(' | ')} |`)

const head = (...cells: readonly string[]): void => {
  line(...cells)
  line(...cells.map((_, index) => (index === 0 ? '---' : '---:')))
}

// RandTree

const randtree = (): void => {
  const { for: forTime = '84m', churn = '1', bug = 'randtree-children-siblings', only } = options
  const environment = { BUG: bug, COUNT: '25', CHURN: churn }
  head(
    ...['steering', 'steps', 'inconsistencies', 'predicted', 'prevented by prediction', 'by the check', 'missed'],
    ...['joins', 'median join, s', 'rounds', 's of prediction', 's'],
  )
  for (const how of ['without', 'check', 'both'] as const) {
    if (only !== undefined && only !== how) continue
    const summary = run(
      join(here, '../emulate/crystalball.config.js'),
      how,
      ['--for', forTime, '--seed', '7'],
      environment,
    )
    const { steps, predicted, steered, immediate, missed, joins, predictions, seconds } = summary
    const joined = joins ? [joins.count, (joins.p50 / 1000).toFixed(2)] : [0, '–']
    const rounds = predictions ? [predictions.rounds, predictions.seconds.toFixed(0)] : ['–', '–']
    line(
      ...[how, steps, inconsistencies(summary), predicted, steered, immediate, missed],
      ...[...joined, ...rounds, seconds.toFixed(0)],
    )
  }
}

// Runs that violate without

type End = 'prevented by prediction alone' | 'by the check too' | 'missed' | 'as without'

const endOf = ({ verdict, steered, immediate }: Summary): End => {
  if (verdict === 'violated') return 'missed'
  if (immediate > 0) return 'by the check too'
  return steered > 0 ? 'prevented by prediction alone' : 'as without'
}

/** Each run without steering, and those that violate a property again, steered. */
const compare = (what: string, runs: Iterable<(how: How) => Summary>): void => {
  const ends = new Map<End, number>()
  let [all, violated, seconds, predicted] = [0, 0, 0, 0]
  for (const each of runs) {
    all += 1
    if (each('without').verdict !== 'violated') continue
    violated += 1
    const steered = each('both')
    ends.set(endOf(steered), 1 + (ends.get(endOf(steered)) ?? 0))
    seconds += steered.seconds
    predicted += steered.predicted
  }
  const share = (end: End) => ends.get(end) ?? 0
  const kinds = ['prevented by prediction alone', 'by the check too', 'as without', 'missed'] as const
  line(what, all, violated, ...kinds.map(share), predicted, (seconds / Math.max(1, violated)).toFixed(1))
}

const headOfComparison = () =>
  head(
    ...['runs', 'of', 'violated without', 'prevented by prediction alone', 'by the check too'],
    ...['came otherwise', 'missed', 'predictions', 's a steered run'],
  )

/** A number from 0 to 1 that is the same for the same seed. */
const drawn = (seed: number): number => {
  let hash = Math.imul(seed, 0x9e3779b1)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32
}

function* paxosRuns(bug: string): Generator<(how: How) => Summary> {
  const isOfRestart = bug === 'paxos-forget-promise'
  for (let seed = 1; seed <= Number(options.runs); seed++) {
    const gapMs = Math.round(20_000 * drawn(seed))
    const plan = join(directory, `plan-${seed}.json`)
    const restart = [
      { atMs: 3000, does: 'leave', node: 'n2', manner: 'kill' },
      { atMs: 3100, does: 'join', node: 'n2' },
    ]
    writeFileSync(
      plan,
      JSON.stringify({
        nodes: ['n1', 'n2', 'n3'],
        initial: ['n1', 'n2', 'n3'],
        events: [
          { atMs: 0, does: 'partition', groups: [['n1', 'n2'], ['n3']] },
          ...(isOfRestart ? restart : []),
          { atMs: 3200, does: 'partition', groups: [['n1'], ['n2', 'n3']] },
        ],
      }),
    )
    const environment = { BUG: bug, SECOND_ROUND_MS: String((isOfRestart ? 200 : 3300) + gapMs) }
    const args = ['--churn', plan, '--seed', String(seed)]
    yield how => run(join(here, 'paxos.config.js'), how, args, environment)
  }
}

function* liveRuns(): Generator<(how: How) => Summary> {
  const { system, bug = 'chord-pred-self', churn = '6', for: forTime = '60s' } = options
  const environment = { SYSTEM: system, BUG: bug, CHURN: churn, CLIENTS: 'none', RESETS: '2' }
  for (let seed = 1; seed <= Number(options.runs); seed++) {
    const args = ['--for', forTime, '--seed', String(seed)]
    yield how => run(join(here, '../emulate/live.config.js'), how, args, environment)
  }
}

try {
  switch (positionals[0]) {
    case 'randtree':
      randtree()
      break
    case 'paxos':
      headOfComparison()
      for (const bug of options.bug ? [options.bug] : ['paxos-last-promise', 'paxos-forget-promise'])
        compare(bug, paxosRuns(bug))
      break
    case 'live':
      headOfComparison()
      compare(options.bug ?? 'chord-pred-self', liveRuns())
      break
    default:
      throw new Error('expected randtree, paxos or live')
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
