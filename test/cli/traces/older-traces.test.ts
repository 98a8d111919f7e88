import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { decodeRecord, encodeRecord } from '../../../checker/trace/schema.ts'
import { seal, unseal } from '../../../checker/trace/seal.ts'
import { here as lastnail } from '../lastnail.ts'

// The traces were recorded by commit 27c8b8b, of the configurations beside them. Only the path of the configuration,
// which is absolute, becomes that of a copy; all other bytes are those that the commit wrote.

const directory = mkdtempSync(join(tmpdir(), 'lastnail-older-'))
cpSync(join(import.meta.dirname, 'older'), directory, { recursive: true })
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const moved = (name: string): string => {
  const path = join(directory, name)
  const file = readFileSync(path)
  const from = file.indexOf('\n') + 1
  const first = unseal(file, from)
  if (typeof first === 'string') throw new Error(`the header of ${name} is ${first}`)
  const record = decodeRecord(first.payload)
  if (!('header' in record)) throw new Error(`${name} does not begin with a header`)
  const config = { ...record.header.config, path: join(directory, basename(record.header.config.path)) }
  const header = seal(encodeRecord({ header: { ...record.header, config } }))
  writeFileSync(path, Buffer.concat([file.subarray(0, from), header, file.subarray(first.end)]))
  return name
}

const replayed = async (name: string) => {
  const { code, stdout, stderr } = await lastnail(directory, 'replay', moved(name), '--json')
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
