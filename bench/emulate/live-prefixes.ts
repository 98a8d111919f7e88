/**
 * Searches from a live state, as CrystalBall does: each system runs over an internet with one of its bugs, for a while and without any
 * check. From the last state of that run, or from half-way to the first violation in it, each search has the same time; and the same
 * again from the initial state. In the end, what each search did from the live states altogether.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Outcome } from '../../cli/check/outcome.ts'
import { bugs, ofCrystalBall } from '../corpus/rows.ts'
import { runCommand } from './run-command.ts'

const { values: options } = parseArgs({
  options: {
    row: { type: 'string', multiple: true, default: [] },
    search: { type: 'string', multiple: true, default: ['consequence', 'local', 'bounded', 'walk', 'auto'] },
    for: { type: 'string', default: '30' },
    /** Seconds of the run. */
    after: { type: 'string', default: '30' },
    initial: { type: 'boolean', default: true },
  },
  allowNegative: true,
})

const config = join(import.meta.dirname, 'live.config.js')
const directory = mkdtempSync(join(tmpdir(), 'lastnail-live-'))
const wanted = options.row.length > 0 ? options.row : ofCrystalBall

/** What a search came to from one state; states and steps are those beyond the state where it began. */
interface Came {
  readonly found: boolean
  readonly seconds: number
  readonly executions: number
  readonly states: number
  readonly longest: number
}

/** Where a search begins: after how many steps, that have met so many states. */
interface Begin {
  readonly steps: number
  readonly states: number
  readonly from: readonly string[]
}

const search = (
  name: string,
  begin: Begin,
  property: string,
  environment: Record<string, string>,
): Came | undefined => {
  const budget = ['--for', `${options.for}s`, '--workers', '1', '--property', property, '--out', directory]
  const { seconds, result } = runCommand(['check', config, ...begin.from, '--search', name, ...budget], environment)
  if (result.error) return undefined
  const { verdict, executions, states, local, consequence, searches } = result as unknown as Outcome
  const longest = Math.max(...searches.map(each => each.longest))
  return {
    found: verdict === 'violated',
    seconds,
    executions,
    states: local?.localStates ?? consequence?.states ?? states - begin.states,
    longest: consequence?.depth ?? Math.max(0, longest - begin.steps),
  }
}

const shown = (came: Came | undefined): string =>
  came === undefined
    ? 'refused'
    : `${came.found ? '' : '– '}${came.seconds.toFixed(1)} s, ${came.executions.toLocaleString('en')}`

const total = (all: readonly Came[], of: (came: Came) => number): number => all.reduce((sum, came) => sum + of(came), 0)

/** All rows of one search together. Of a local search the states are those of single nodes. */
const summaryOf = (name: string, all: readonly Came[]): string => {
  const [seconds, executions, states] = [
    total(all, each => each.seconds),
    total(all, each => each.executions),
    total(all, each => each.states),
  ]
  const figures = [
    `${all.filter(({ found }) => found).length} of ${all.length}`,
    seconds.toFixed(0),
    executions.toLocaleString('en'),
    states.toLocaleString('en'),
    (states / seconds).toFixed(0),
    Math.max(...all.map(({ longest }) => longest)),
  ]
  return `| ${[name, ...figures].join(' | ')} |`
}

const stepsBefore = ({ violations }: Record<string, unknown>, steps: number): number => {
  const [first] = violations as readonly { readonly step: number }[]
  return first ? Math.floor(first.step / 2) : steps
}

try {
  const columns = options.search.flatMap(name => [`${name}, live`, ...(options.initial ? [`${name}, initial`] : [])])
  console.log(`| bug | steps before | ${columns.join(' | ')} |`)
  console.log(`| --- | ---: |${' ---: |'.repeat(columns.length)}`)
  const fromLive = new Map(options.search.map(name => [name, [] as Came[]]))
  for (const { id, system, property } of bugs.filter(bug => wanted.includes(bug.id))) {
    // A state in the middle of a call cannot be gone back to in place.
    const environment = { SYSTEM: system.replace('corpus/', ''), BUG: id, CHURN: '2', CLIENTS: 'none' }
    const { result } = runCommand(['emulate', config, '--for', `${options.after}s`, '--out', directory], {
      ...environment,
      PREDICATES: 'none',
    })
    const trace = String(result.trace)
    const steps = stepsBefore(runCommand(['verify', trace], environment).result, result.steps as number)
    const from = ['--from', `${trace}:${steps}`]
    const cells = options.search.flatMap(name => {
      const came = search(name, { steps, states: steps, from }, property!, environment)
      if (came) fromLive.get(name)!.push(came)
      const initial = options.initial ? [search(name, { steps: 0, states: 0, from: [] }, property!, environment)] : []
      return [came, ...initial].map(shown)
    })
    console.log(`| ${[id, steps, ...cells].join(' | ')} |`)
  }
  console.log('\n| from the live states | found | s | executions | states | states a second | longest execution |')
  console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: |')
  for (const [name, all] of fromLive) console.log(summaryOf(name, all))
} finally {
  rmSync(directory, { recursive: true, force: true })
}
