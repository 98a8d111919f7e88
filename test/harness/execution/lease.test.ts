import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { always } from '../../../checker/system/property.ts'
import { type GlobalState, jsonLines } from '../../../harness/config/config.ts'
import { clusterOf } from '../system.ts'

/** The programs of the page. */
const page = readFileSync('docs/pauses.md', 'utf8')
const program = (name: string): string => page.split(`\`\`\`py ${name}\n`)[1]!.split('```')[0]!

const python = (name: string) => ['python3', '-c', program(name)]

const leases = (env: Readonly<Record<string, string>> = {}) => {
  const worker = { command: python('worker.py') }
  return clusterOf({
    nodes: { store: { command: python('store.py'), env }, one: worker, other: worker },
    state: jsonLines(),
    clocks: 'together',
    delay: '500ms',
    faults: { pause: 1 },
  })
}

const inOrder = always<GlobalState>(state => {
  const { written = [] } = (state.node('store').state ?? {}) as { written?: readonly number[] }
  return written.every((lease, index) => index === 0 || lease >= written[index - 1]!)
})

test.each([1, 2, 3, 4, 5])('a lease that a paused worker still believes in is found, seed %i', async seed => {
  const verdict = await check(leases(), { inOrder }, { executions: 400, seed })
  if (process.env.SHOW) console.log(seed, verdict.discovery)
  expect(verdict.verdict).toBe('violated')
  const kinds = verdict.schedule!.map(label => label.split(' ')[0])
  expect(kinds.filter(word => word === 'pause' || word === 'resume')).toEqual(['pause', 'resume'])
})

test('with a fencing token it is held', async () => {
  expect((await check(leases({ FENCED: '1' }), { inOrder }, { executions: 100, seed: 1 })).verdict).toBe('held')
})
