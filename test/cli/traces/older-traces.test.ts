import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { here as lastnail } from '../lastnail.ts'
import { copyOfTrace } from '../recorded.ts'

// The traces were recorded by commit 27c8b8b, of the configurations beside them.

const directory = mkdtempSync(join(tmpdir(), 'lastnail-older-'))
const older = join(import.meta.dirname, 'older')
cpSync(older, directory, { recursive: true })
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const replayed = async (name: string) => {
  const { code, stdout, stderr } = await lastnail(
    directory,
    'replay',
    copyOfTrace(join(older, name), directory),
    '--json',
  )
  const { verdict, property, kind, steps } = JSON.parse(stdout)
  return { code, verdict, property, kind, steps, stderr }
}

test('a schedule with a crash and a restart comes to its violation', async () => {
  expect(await replayed('crash.trace')).toEqual({
    ...{ code: 1, verdict: 'violated', property: 'firstIsFirst', kind: 'safety', steps: 6, stderr: '' },
  })
})

test('a property that a lost message makes false stays false', async () => {
  const { steps, ...said } = await replayed('lasting.trace')
  expect(said).toEqual({ code: 1, verdict: 'violated', property: 'bothDone', kind: 'liveness', stderr: '' })
})

test('an emulated run with a partition, a kill and a start is the same again', async () => {
  expect(await replayed('run.trace')).toEqual({
    ...{ code: 1, verdict: 'violated', property: 'firstIsFirst', kind: 'safety', steps: 38, stderr: '' },
  })
})
