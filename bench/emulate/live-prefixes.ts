/**
 * Searches from live states, as CrystalBall does: each system runs over an internet with one of its bugs, for a while and without any
 * check. All states of that run, or those half-way to the first violation in it, are looked at: in which of them can the chain of the bug
 * begin? From the last of these, and with `--states` from others before it, each search has the same time, until it finds something; and
 * the same again from the initial state. In the end, what each search did from the live states altogether. With `--look` alone, no search
 * is made.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { CheckOutcome } from '../../cli/check/outcome.ts'
import { bugs, ofCrystalBall } from '../corpus/rows.ts'
import { lastToLookAt, preconditions, some, stepsWith } from './preconditions.ts'
import { runCommand } from './run-command.ts'

const { values: options } = parseArgs({
  options: {
    row: { type: 'string', multiple: true, default: [] },
    search: { type: 'string', multiple: true, default: ['consequence', 'local', 'bounded', 'walk', 'auto'] },
    for: { type: 'string', default: '30' },
    /** Seconds of the run. */
    after: { type: 'string', default: '30' },
    initial: { type: 'boolean', default: true },
    /** From how many states of a run each search begins at most. */
    states: { type: 'string', default: '1' },
    /** How many resets a search may add to the run, and how nodes leave in it. The chains of the paper take two resets. */
    resets: { type: 'string', default: '2' },
    manner: { type: 'string', default: 'kill' },
    /** Only says in how many states chains can begin. */
    look: { type: 'boolean', default: false },
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
  const { verdict, executions, states, local, consequence, deviations, searches } = result as unknown as CheckOutcome
  const longest = Math.max(...searches.map(each => each.longest))
  return {
    found: verdict === 'violated',
    seconds,
    executions,
    states: local?.localStates ?? (consequence ?? deviations)?.states ?? states - begin.states,
    longest: (consequence ?? deviations)?.depth ?? Math.max(0, longest - begin.steps),
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

/** Searches from some states, until something is found. */
const searchFrom = (
  name: string,
  begins: readonly Begin[],
  property: string,
  environment: Record<string, string>,
): Came | undefined => {
  const all: Came[] = []
  for (const begin of begins) {
    const came = search(name, begin, property, environment)
    if (came) all.push(came)
    if (came?.found) break
  }
  if (all.length === 0) return undefined
  return {
    found: all.some(({ found }) => found),
    seconds: total(all, each => each.seconds),
    executions: total(all, each => each.executions),
    states: total(all, each => each.states),
    longest: Math.max(...all.map(({ longest }) => longest)),
  }
}

try {
  const columns = options.look
    ? ['these are where']
    : options.search.flatMap(name => [`${name}, live`, ...(options.initial ? [`${name}, initial`] : [])])
  console.log(`| bug | states that can begin its chain | ${columns.join(' | ')} |`)
  console.log(`| --- | ---: |${' ---: |'.repeat(columns.length)}`)
  const fromLive = new Map(options.search.map(name => [name, [] as Came[]]))
  for (const { id, system, property } of bugs.filter(bug => wanted.includes(bug.id))) {
    // A state in the middle of a call cannot be gone back to in place.
    const environment = {
      ...{ SYSTEM: system.replace('corpus/', ''), BUG: id, CHURN: '2', CLIENTS: 'none' },
      ...{ RESETS: options.resets, MANNER: options.manner },
    }
    const { result } = runCommand(['emulate', config, '--for', `${options.after}s`, '--out', directory], {
      ...environment,
      PREDICATES: 'none',
    })
    const trace = String(result.trace)
    const last = lastToLookAt(trace, result.steps as number, environment)
    const steps = stepsWith(trace, id, last)
    const looked = `${steps.length} of ${last}`
    if (options.look) {
      console.log(`| ${[id, looked, preconditions[id]?.says ?? 'any'].join(' | ')} |`)
      continue
    }
    const begins = some(steps, Number(options.states)).map(step => ({
      ...{ steps: step, states: step },
      from: ['--from', `${trace}:${step}`],
    }))
    const cells = options.search.flatMap(name => {
      const came = searchFrom(name, begins, property!, environment)
      if (came) fromLive.get(name)!.push(came)
      const initial = options.initial ? [search(name, { steps: 0, states: 0, from: [] }, property!, environment)] : []
      return [came, ...initial].map(shown)
    })
    console.log(`| ${[id, looked, ...cells].join(' | ')} |`)
  }
  if (!options.look) {
    console.log('\n| from the live states | found | s | executions | states | states a second | longest execution |')
    console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: |')
    for (const [name, all] of fromLive) console.log(summaryOf(name, all))
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
