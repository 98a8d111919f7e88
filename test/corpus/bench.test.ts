import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { figuresOf, isFound } from '../../bench/corpus/report.ts'
import { bugs } from '../../bench/corpus/rows.ts'
import { runRow } from '../../bench/corpus/run-row.ts'

// One row of each kind; all of them take the better part of an hour: `npm run bench:corpus`.
const rows = ['brokentree-self', 'transport-stale-syn', 'randtree-join-loop']

test.each(rows)('the checker finds %s', { timeout: 170_000 }, async id => {
  const bug = bugs.find(each => each.id === id)!
  const out = mkdtempSync(join(tmpdir(), 'lastnail-corpus-'))
  onTestFinished(() => rmSync(out, { recursive: true, force: true }))
  const result = await runRow(bug.system, bug, { seconds: 120, search: 'auto', workers: '1', out })
  expect(result).toMatchObject({ exitCode: 1, outcome: { verdict: 'violated', repeated: true } })
  expect(isFound(bug, result)).toBe(true)
  if (bug.kind !== 'liveness') return
  const { criticalTransition, isTheOneThatThePaperNames } = figuresOf(bug, result)
  expect(criticalTransition).toMatchObject({ case: 'C1', walks: 60 })
  expect(isTheOneThatThePaperNames).toBe(true)
})
