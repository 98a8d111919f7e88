import { expect, test } from 'vitest'
import type { SystemDefinition } from '../../../harness/config/config.ts'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

/** Does at each tick what its argument says, and prints at its start what it finds. */
const writer = `
const fs = require('fs')
const say = name => name + '=' + (fs.existsSync(name) ? String(fs.readFileSync(name)).length + ':' + String(fs.readFileSync(name)).slice(0, 8) : 'none')
fs.mkdirSync('/var/tmp/data', { recursive: true })
process.chdir('/var/tmp/data')
console.log(say('db'), say('log'), say('new/a'))
const steps = {
  log: () => fs.appendFileSync('log', 'x'.repeat(3)),
  long: () => fs.appendFileSync('log', 'y'.repeat(5000)),
  sync: () => { const fd = fs.openSync('log', 'r+'); fs.fsyncSync(fd); fs.closeSync(fd) },
  syncDirectory: () => { const fd = fs.openSync('.', 'r'); fs.fsyncSync(fd); fs.closeSync(fd) },
  replace: () => { fs.writeFileSync('db.tmp', 'second'); fs.renameSync('db.tmp', 'db') },
  first: () => fs.writeFileSync('db', 'first'),
  syncAll: () => require('child_process').execFileSync('sync'),
  directory: () => { fs.mkdirSync('new'); fs.writeFileSync('new/a', 'inside') },
  shorter: () => fs.truncateSync('log', 2),
  remove: () => fs.unlinkSync('log'),
}
const [, , ...todo] = process.argv
setInterval(() => { const next = todo.shift(); if (next) steps[next]() }, 1000)
`

const writing = (todo: readonly string[], options: Partial<SystemDefinition> = {}) =>
  clusterOf(
    { nodes: { n: { command: ['node', 'writer.js', ...todo] } }, faults: { power: 1 }, ...options },
    { 'writer.js': writer },
  )

/** The failures that may come now. Those in the middle of a step to come are always the same. */
const failures = (cluster: ReturnType<typeof writing>) =>
  labelsOf(cluster).filter(label => label.startsWith('power') && !label.includes(' before '))

/** What may be left after these steps, and what the next life finds. */
const after = async (todo: readonly string[], options: Partial<SystemDefinition> = {}) => {
  const cluster = writing(todo, options)
  const ticks = async () => {
    await cluster.reset()
    for (const _ of todo) await take(cluster, 'n timer +1000ms')
  }
  await ticks()
  const found: Record<string, string> = {}
  for (const label of failures(cluster)) {
    await ticks()
    await take(cluster, label)
    await take(cluster, 'restart n')
    found[label.replace('power n ', '')] = stdoutOf(cluster, 'n')[0]!
  }
  return found
}

test('what was not synced may be lost, from the end or all but some', { timeout: 60_000 }, async () => {
  expect(await after(['first', 'replace', 'log'])).toEqual({
    'keeps 8 of 8': 'db=6:second log=3:xxx new/a=none',
    'keeps 7 of 8, not write log': 'db=6:second log=0: new/a=none',
    'keeps 6 of 8, not make log': 'db=6:second log=none new/a=none',
    'keeps 5 of 8, not rename db.tmp db': 'db=5:first log=none new/a=none',
    'keeps 4 of 8, not write db.tmp': 'db=5:first log=none new/a=none',
    'keeps 3 of 8, not make db.tmp': 'db=5:first log=none new/a=none',
    'keeps 2 of 8, not write db': 'db=0: log=none new/a=none',
    'keeps 1 of 8, not make db': 'db=none log=none new/a=none',
    'keeps 0 of 8': 'db=none log=none new/a=none',
    'keeps 7 of 8, without 3 write db': 'db=6:second log=3:xxx new/a=none',
  })
})

test('POSIX promises less: a file that has the name, and not what was written to it', { timeout: 60_000 }, async () => {
  const found = await after(['first', 'syncAll', 'replace', 'log'], { disk: { model: 'posix' } })
  expect(found).toMatchObject({
    'keeps 0 of 5': 'db=5:first log=none new/a=none',
    'keeps 4 of 5, without 2 write db.tmp': 'db=0: log=3:xxx new/a=none',
  })
})

test('files that were there come back, at their length and whole, and directories go with what is in them', {
  timeout: 60_000,
}, async () => {
  expect(await after(['log', 'first', 'syncAll', 'shorter', 'remove', 'directory'])).toEqual({
    'keeps 5 of 5': 'db=5:first log=none new/a=6:inside',
    'keeps 4 of 5, not write a': 'db=5:first log=none new/a=0:',
    'keeps 3 of 5, not make a': 'db=5:first log=none new/a=none',
    'keeps 2 of 5, not make new': 'db=5:first log=none new/a=none',
    'keeps 1 of 5, not remove log': 'db=5:first log=2:xx new/a=none',
    'keeps 0 of 5': 'db=5:first log=3:xxx new/a=none',
  })
})

test('a long write may be torn, and what was synced is kept in any case', { timeout: 60_000 }, async () => {
  expect(await after(['log', 'sync', 'syncDirectory', 'long'])).toEqual({
    'keeps 1 of 1': 'db=none log=5003:xxxyyyyy new/a=none',
    'keeps 0 of 1': 'db=none log=3:xxx new/a=none',
    'keeps 1 of 1, write log torn': 'db=none log=4096:xxxyyyyy new/a=none',
  })
})

test('a crash loses nothing, but what it leaves unsynced may still be lost afterwards', {
  timeout: 60_000,
}, async () => {
  const cluster = writing(['log'], { faults: { power: 1, crash: 1 } })
  await cluster.reset()
  await take(cluster, 'n timer +1000ms')
  await take(cluster, 'crash n')
  await take(cluster, 'restart n')
  expect(stdoutOf(cluster, 'n')).toEqual(['db=none log=3:xxx new/a=none'])
  await take(cluster, 'power n keeps 2 of 3, not write log')
  await take(cluster, 'restart n')
  expect(stdoutOf(cluster, 'n')).toEqual(['db=none log=0: new/a=none'])
})

test('a mark holds what may be lost at it', { timeout: 60_000 }, async () => {
  const cluster = writing(['log', 'sync'])
  await cluster.reset()
  await take(cluster, 'n timer +1000ms')
  const powers = () => failures(cluster)
  const before = powers()
  expect(before.length).toBeGreaterThan(2)
  const mark = await cluster.mark()
  await take(cluster, 'n timer +1000ms')
  expect(powers()).toEqual(['power n'])
  await cluster.restore(mark!)
  expect(powers()).toEqual(before)
})

test('a note says where the power failed as on ext4, and POSIX would allow more', { timeout: 60_000 }, async () => {
  const notesAfter = async (todo: readonly string[], options: Partial<SystemDefinition> = {}) => {
    const cluster = writing(todo, options)
    await cluster.reset()
    for (const _ of todo) await take(cluster, 'n timer +1000ms')
    return cluster.notes().filter(note => note.includes('ext4'))
  }
  // The name of the log lasts with the sync of the log.
  expect(await notesAfter(['log', 'sync'])).toEqual([
    expect.stringContaining("`disk: { model: 'posix' }` tries that too"),
  ])
  expect(await notesAfter(['log', 'sync'], { disk: { model: 'posix' } })).toEqual([])
  expect(await notesAfter(['syncAll', 'log', 'syncDirectory', 'sync'])).toEqual([])
})
