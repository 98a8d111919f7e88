/**
 * Searches from a live state, as CrystalBall does: each system runs over an internet with one of its bugs, for a while and without any
 * check. From the last state of that run, or from half-way to the first violation in it, each search has the same time; and the same
 * again from the initial state.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bugs } from '../corpus/rows.ts'
import { runCommand } from './run-command.ts'

const { values: options } = parseArgs({
  options: {
    row: { type: 'string', multiple: true, default: [] },
    search: { type: 'string', multiple: true, default: ['consequence', 'local', 'bounded', 'auto'] },
    for: { type: 'string', default: '30' },
    /** Seconds of the run. */
    after: { type: 'string', default: '30' },
    initial: { type: 'boolean', default: true },
  },
  allowNegative: true,
})

/** The rows of the corpus that CrystalBall reports. */
const ofCrystalBall = [
  'randtree-children-siblings',
  'randtree-root-as-child',
  'randtree-root-siblings',
  'randtree-self-join',
  'chord-pred-self',
  'chord-order',
  'chord-queue',
  'paxos-last-promise',
  'paxos-forget-promise',
  'bullet-shadow-map',
]

const config = join(import.meta.dirname, 'live.config.js')
const directory = mkdtempSync(join(tmpdir(), 'lastnail-live-'))
const wanted = options.row.length > 0 ? options.row : ofCrystalBall

const shown = (
  from: readonly string[],
  search: string,
  property: string,
  environment: Record<string, string>,
): string => {
  const budget = ['--for', `${options.for}s`, '--workers', '1', '--property', property, '--out', directory]
  const { seconds, result } = runCommand(['check', config, ...from, '--search', search, ...budget], environment)
  if (result.error) return 'refused'
  const executions = (result.executions as number).toLocaleString('en')
  return `${result.verdict === 'violated' ? '' : '– '}${seconds.toFixed(1)} s, ${executions}`
}

const stepsBefore = ({ violations }: Record<string, unknown>, steps: number): number => {
  const [first] = violations as readonly { readonly step: number }[]
  return first ? Math.floor(first.step / 2) : steps
}

try {
  const columns = options.search.flatMap(search => [
    `${search}, live`,
    ...(options.initial ? [`${search}, initial`] : []),
  ])
  console.log(`| bug | steps before | ${columns.join(' | ')} |`)
  console.log(`| --- | ---: |${' ---: |'.repeat(columns.length)}`)
  for (const { id, system, property } of bugs.filter(bug => wanted.includes(bug.id))) {
    // A state in the middle of a call cannot be gone back to in place.
    const environment = { SYSTEM: system.replace('corpus/', ''), BUG: id, CHURN: '2', CLIENTS: 'none' }
    const { result } = runCommand(['emulate', config, '--for', `${options.after}s`, '--out', directory], {
      ...environment,
      PREDICATES: 'none',
    })
    const trace = String(result.trace)
    const steps = stepsBefore(runCommand(['verify', trace], environment).result, result.steps as number)
    const begins = [['--from', `${trace}:${steps}`], ...(options.initial ? [[]] : [])]
    const cells = options.search.flatMap(search => begins.map(from => shown(from, search, property!, environment)))
    console.log(`| ${[id, steps, ...cells].join(' | ')} |`)
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
