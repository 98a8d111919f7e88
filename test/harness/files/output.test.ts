import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Output } from '../../../harness/files/output.ts'
import { directoryWith } from '../system.ts'

test('of very much output the end is kept, and reading goes on after it', () => {
  const path = join(directoryWith({}), 'stdout')
  const output = new Output(path)
  const writing = openSync(path, 'r+')
  onTestFinished(() => {
    closeSync(writing)
    output.close()
  })
  const hole = 600 << 20
  ftruncateSync(writing, hole)
  writeSync(writing, 'the end', hole)
  const bytes = output.read()
  expect(bytes.length).toBe(64 << 20)
  expect(bytes.subarray(-7).toString()).toBe('the end')
  expect(output.text.slice(-7)).toBe('the end')
  writeSync(writing, ' and more', hole + 7)
  expect(output.read().toString()).toBe(' and more')
  expect(output.text.slice(-16)).toBe('the end and more')
})

test('an edition is equal where the text is', () => {
  const path = join(directoryWith({}), 'stdout')
  const output = new Output(path)
  const writing = openSync(path, 'a')
  onTestFinished(() => {
    closeSync(writing)
    output.close()
  })
  const write = (text: string) => {
    writeSync(writing, text)
    output.read()
    return output.edition
  }
  expect(output.edition).toBe(0)
  const first = write('first')
  const rewind = output.mark()
  const second = write('second')
  rewind()
  expect([output.text, output.edition]).toEqual(['first', first])
  expect(new Set([0, first, second, write('fourth')]).size).toBe(4)
})
