/**
 * CrystalBall's experiments with steering (section 5.4), at the pace `virtual`: `randtree`, `paxos` or `live`, each for some seeds, without
 * steering, with the immediate check, and with prediction too. `bullet`: a file is distributed at the pace `real`, without and with prediction. `examples`: services of the examples, and what steering costs their clients.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { ChurnEvent, ChurnPlan } from '../../topologies/churn/plan.ts'
import { runCommand } from '../emulate/run-command.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '20' },
    /** The seed of the first run; those after it have the next ones. */
    first: { type: 'string', default: '1' },
    for: { type: 'string' },
    /** Joins and leaves a minute. */
    churn: { type: 'string' },
    bug: { type: 'string' },
    system: { type: 'string' },
    /** Of `bullet`. */
    nodes: { type: 'string', default: '12' },
    megabytes: { type: 'string', default: '5' },
    /** Of each steered run, so many steps of steering are looked at for whether they were in vain; by default all. */
    sample: { type: 'string', default: 'all' },
    every: { type: 'string' },
    inputs: { type: 'string' },
    /** One way to steer alone; `both` for `examples`, which has the check otherwise. */
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
  readonly trace: string
  readonly clients: readonly {
    readonly calls: number
    readonly failed: number
    readonly latency?: { readonly max: number }
  }[]
  readonly predictions?: { readonly rounds: number; readonly inputs: number; readonly seconds: number }
}

type How = 'without' | 'check' | 'both'

/** @param stderr `inherit` for a run of hours: it shows how far it is */
const run = (
  config: string,
  how: How,
  args: readonly string[],
  environment: Record<string, string>,
  stderr: 'pipe' | 'inherit' = 'pipe',
): Summary => {
  const steering = how === 'without' ? [] : ['--steer', how]
  const every = how === 'both' && options.every ? ['--every', options.every] : []
  const inputs = how === 'both' && options.inputs ? ['--inputs', options.inputs] : []
  const { result, stderr: said } = runCommand(
    ['emulate', config, ...steering, ...every, ...inputs, ...args, '--out', directory],
    environment,
    stderr,
  )
  if (result.error) throw new Error(JSON.stringify(result.error))
  for (const each of said.split('\n')) if (each.endsWith(': missed')) console.error(each)
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

/** What CrystalBall found in RandTree and can be seen in a state. */
const randtreeBugs = ['children-siblings', 'root-as-child', 'root-siblings', 'forceroot', 'timer-safety'].map(
  name => `randtree-${name}`,
)

/**
 * So many times a minute one of the eight nodes with the smallest addresses, which are near the root, is away for up to eight seconds: after a
 * kill, or after a cut, of which its peers are not told.
 */
const restarts = (minutes: number, aMinute: number): ChurnPlan => {
  const nodes = Array.from({ length: 25 }, (_, index) => `n${index + 1}`)
  const backMs = new Map<string, number>()
  const events: ChurnEvent[] = []
  for (let index = 0; index < minutes * aMinute; index++) {
    const [when, which, how, howLong] = [1, 2, 3, 4].map(more => drawn(4 * index + more)) as [
      number,
      number,
      number,
      number,
    ]
    const node = nodes[Math.floor(8 * which)]!
    const atMs = Math.round(5000 + ((index + when) * 60_000) / aMinute)
    if ((backMs.get(node) ?? 0) >= atMs) continue
    backMs.set(node, atMs + 100 + Math.round(8000 * howLong))
    events.push({ atMs, does: 'leave', node, manner: how < 0.5 ? 'kill' : 'cut' })
    events.push({ atMs: backMs.get(node)!, does: 'join', node })
  }
  return { nodes, initial: nodes, events: events.sort((one, other) => one.atMs - other.atMs) }
}

const randtree = (): void => {
  const { for: forTime = '84', churn = '1', bug = randtreeBugs.join(), only } = options
  const environment = { BUG: bug, COUNT: '25' }
  const plan = join(directory, 'plan.json')
  writeFileSync(plan, JSON.stringify(restarts(Number(forTime), Number(churn))))
  head(
    ...['steering', 'steps', 'inconsistencies', 'predicted', 'prevented by prediction', 'by the check', 'missed'],
    ...['joins', 'median join, s', 'p90, s', 'rounds', 's of prediction', 's'],
  )
  for (const how of ['without', 'check', 'both'] as const) {
    if (only !== undefined && only !== how) continue
    const summary = run(
      join(here, '../emulate/crystalball.config.js'),
      how,
      ['--for', `${forTime}m`, '--churn', plan, '--seed', '7'],
      environment,
      'inherit',
    )
    const { steps, predicted, steered, immediate, missed, joins, predictions, seconds } = summary
    const joined = joins ? [joins.count, (joins.p50 / 1000).toFixed(2), (joins.p90 / 1000).toFixed(2)] : [0, '–', '–']
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

/** A run of a configuration, by how it is steered. */
interface Scenario {
  readonly config: string
  readonly environment: Record<string, string>
  readonly args: readonly string[]
}

/** How many steps of steering in a run were for something that would not have come within a minute. */
const inVain = ({ config, environment }: Scenario, { trace }: Summary): readonly [inVain: number, looked: number] => {
  if (options.sample === '0') return [0, 0]
  const { stdout, stderr } = spawnSync(process.execPath, [join(here, 'unsteered.js'), config, trace, options.sample!], {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
  })
  if (stdout === '') throw new Error(stderr)
  const counts = JSON.parse(stdout) as { readonly looked: number; readonly inVain: number }
  return [counts.inVain, counts.looked]
}

/** Each run without steering, and those that violate a property again, steered. */
const compare = (what: string, scenarios: Iterable<Scenario>): void => {
  const ends = new Map<End, number>()
  let [all, violated, seconds, predicted, vain, actions] = [0, 0, 0, 0, 0, 0]
  for (const scenario of scenarios) {
    all += 1
    const { config, args, environment } = scenario
    const violates = run(config, 'without', args, environment).verdict === 'violated'
    if (violates) violated += 1
    // A run that violates nothing shows what is prevented in vain.
    else if (options.sample === '0') continue
    const steered = run(config, 'both', args, environment)
    const [inVainHere, actionsHere] = inVain(scenario, steered)
    vain += inVainHere
    actions += actionsHere
    if (!violates) continue
    console.error(`${args.join(' ')}: ${endOf(steered)}`)
    ends.set(endOf(steered), 1 + (ends.get(endOf(steered)) ?? 0))
    seconds += steered.seconds
    predicted += steered.predicted
  }
  const share = (end: End) => ends.get(end) ?? 0
  const kinds = ['prevented by prediction alone', 'by the check too', 'as without', 'missed'] as const
  const perRun = (seconds / Math.max(1, violated)).toFixed(1)
  line(what, all, violated, ...kinds.map(share), predicted, `${vain} of ${actions}`, perRun)
}

const headOfComparison = () =>
  head(
    ...['runs', 'of', 'violated without', 'prevented by prediction alone', 'by the check too'],
    ...['came otherwise', 'missed', 'predictions', 'prevented in vain', 's a steered run'],
  )

const seeds = (): readonly number[] =>
  Array.from({ length: Number(options.runs) }, (_, index) => Number(options.first) + index)

/** A number from 0 to 1 that is the same for the same seed. */
const drawn = (seed: number): number => {
  let hash = Math.imul(seed, 0x9e3779b1)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32
}

function* paxosRuns(bug: string): Generator<Scenario> {
  const isOfRestart = bug === 'paxos-forget-promise'
  for (const seed of seeds()) {
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
    yield { config: join(here, 'paxos.config.js'), args, environment }
  }
}

function* liveRuns(): Generator<Scenario> {
  const { system = 'chord', bug = 'chord-self-successor', churn = '6', for: forTime = '20s' } = options
  const environment = { SYSTEM: system, BUG: bug, CHURN: churn, CLIENTS: 'none', RESETS: '2' }
  for (const seed of seeds()) {
    const args = ['--for', forTime, '--seed', String(seed)]
    yield { config: join(here, '../emulate/live.config.js'), args, environment }
  }
}

// Services of the examples

/** An example, and what happens to it. */
interface Example {
  /** Beside this file. */
  readonly config: string
  readonly plan: ChurnPlan
}

/** Again and again a node is killed and back a moment later. */
const crashLoop = (node: string, everyMs: number, untilMs: number): ChurnEvent[] =>
  Array.from({ length: Math.floor(untilMs / everyMs) }, (_, index) => everyMs * (index + 1)).flatMap(atMs => [
    { atMs, does: 'leave', node, manner: 'kill' } as const,
    { atMs: atMs + 10, does: 'join', node } as const,
  ])

/** A node is cut off from the others, which reach each other. */
const awayFor = (node: string, others: readonly string[], fromMs: number, untilMs: number): ChurnPlan => ({
  nodes: [node, ...others],
  initial: [node, ...others],
  events: [
    { atMs: fromMs, does: 'partition', groups: [[node], others] },
    { atMs: untilMs, does: 'heal' },
  ],
})

const startsLater = (node: string, atMs: number, plan: ChurnPlan): ChurnPlan => ({
  ...plan,
  initial: plan.initial.filter(name => name !== node),
  events: [{ atMs, does: 'join', node }, ...plan.events],
})

const three = ['n1', 'n2', 'n3']

const examples: Readonly<Record<string, Example>> = {
  redis: { config: 'redis.config.js', plan: awayFor('primary', ['replica', 'operator'], 3000, 8000) },
  // It starts once the primary knows of the replica, since it asks the primary for its replicas every ten seconds only.
  sentinel: {
    config: 'redis.config.js',
    plan: startsLater('sentinel', 1000, awayFor('primary', ['replica', 'sentinel'], 3000, 8000)),
  },
  liferaft: { config: 'liferaft.config.js', plan: { nodes: three, initial: three, events: crashLoop('n2', 60, 3000) } },
  'node-discover': { config: 'node-discover.config.js', plan: awayFor('n1', ['n2', 'n3'], 0, 15_000) },
  etcd: { config: 'etcd.config.js', plan: { nodes: three, initial: three, events: [] } },
}

/** Each run without steering; those that violate a property are steered, and what their clients have is compared. */
const compareExample = (name: string, how: Exclude<How, 'without'>): void => {
  const { config: file, plan } = examples[name]!
  const config = join(here, file)
  const churn = join(directory, `${name}.json`)
  writeFileSync(churn, JSON.stringify(plan))
  const scenarios = seeds().map(seed => ({
    args: ['--seed', String(seed), ...(options.for ? ['--for', options.for] : []), '--churn', churn],
  }))
  const environment = { EXAMPLE: name }
  const pairs = scenarios.flatMap(({ args }) => {
    const alone = run(config, 'without', args, environment)
    return alone.verdict === 'violated' ? [[alone, run(config, how, args, environment)] as const] : []
  })
  const steered = pairs.map(([, each]) => each)
  const sum = (of: readonly Summary[], count: (summary: Summary) => number) =>
    of.reduce((all, each) => all + count(each), 0)
  const inBoth = (count: (summary: Summary) => number) =>
    `${sum(
      pairs.map(([alone]) => alone),
      count,
    )} and ${sum(steered, count)}`
  const missed = steered.filter(({ verdict }) => verdict === 'violated').length
  line(
    ...[name, how, scenarios.length, pairs.length, pairs.length - missed, missed],
    ...[sum(steered, ({ steered }) => steered), sum(steered, ({ immediate }) => immediate)],
    inBoth(({ clients }) => clients.reduce((all, { calls }) => all + calls, 0)),
    inBoth(({ clients }) => clients.reduce((all, { failed }) => all + failed, 0)),
    `${longest(pairs.map(([alone]) => alone))} and ${longest(steered)}`,
    (sum(steered, ({ seconds }) => seconds) / Math.max(1, pairs.length)).toFixed(1),
  )
}

/** The longest call that came back, in seconds. */
const longest = (of: readonly Summary[]): string => {
  const calls = of.flatMap(({ clients }) => clients.map(({ latency }) => latency?.max ?? 0))
  return (Math.max(0, ...calls) / 1000).toFixed(1)
}

const headOfExamples = () =>
  head(
    ...['service', 'steering', 'runs', 'violated without', 'avoided', 'missed', 'by prediction', 'by the check'],
    ...['calls without and with', 'of these refused', 'longest call, s', 's a steered run'],
  )

// Bullet'

/** Distributes a file at the pace `real`, without and with prediction in turns. */
const bullet = (): void => {
  const { nodes, megabytes } = options
  head(
    'prediction',
    'nodes',
    'MB',
    'have the file',
    'median, s',
    'last, s',
    'steps late by, ms: median',
    '99 %',
    'rounds',
    'behind, s',
  )
  for (const seed of seeds())
    for (const more of [[], ['--predict', ...(options.every ? ['--every', options.every] : [])]]) {
      const { result } = runCommand(
        [
          ...['emulate', join(here, 'bullet.config.js'), '--pace', 'real', '--for', options.for ?? '60s'],
          ...[...more, '--seed', String(seed), '--out', directory],
        ],
        { COUNT: nodes!, MEGABYTES: megabytes! },
      )
      const { joins, late, predictions } = result as unknown as Distributed
      line(
        ...[more.length > 0 ? 'with' : 'without', nodes!, megabytes!, joins?.count ?? 0],
        ...[joins?.p50 ?? 0, joins?.max ?? 0].map(ms => (ms / 1000).toFixed(1)),
        ...[late.p50, late.p99].map(ms => ms.toFixed(0)),
        ...(predictions ? [predictions.rounds, (predictions.behindMs / 1000).toFixed(1)] : ['–', '–']),
      )
    }
}

interface Quantiles {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

interface Distributed {
  readonly joins?: Quantiles
  readonly late: Quantiles
  readonly predictions?: { readonly rounds: number; readonly behindMs: number }
}

try {
  switch (positionals[0]) {
    case 'bullet':
      bullet()
      break
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
      compare(options.bug ?? 'chord-self-successor', liveRuns())
      break
    case 'examples':
      headOfExamples()
      for (const name of options.system ? [options.system] : Object.keys(examples))
        compareExample(name, options.only === 'both' ? 'both' : 'check')
      break
    default:
      throw new Error('expected randtree, paxos, live, bullet or examples')
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
