import { expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { always } from '../../../checker/system/property.ts'
import { type DiskModel, type GlobalState, jsonLines } from '../../../harness/config/config.ts'
import { clusterOf } from '../system.ts'

/** Keeps how many words it was told, and says so after each and at its start. */
const store = `
const fs = require('fs')
const [, , manner] = process.argv
const recordLength = 1500
fs.mkdirSync('/var/tmp/store', { recursive: true })
const sync = (path, flags) => { const fd = fs.openSync(path, flags); fs.fsyncSync(fd); fs.closeSync(fd) }
sync('/var/tmp', 'r')
process.chdir('/var/tmp/store')
const records = () => fs.existsSync('log') ? fs.readFileSync('log') : Buffer.alloc(0)
const isWhole = bytes => bytes.length === recordLength
const replay = isChecked => {
  const bytes = records()
  const found = []
  for (let at = 0; at < bytes.length; at += recordLength) found.push(bytes.subarray(at, at + recordLength))
  return isChecked ? found.filter(isWhole) : found
}
const renamed = isSynced => ({
  read: () => (fs.existsSync('db') ? [...fs.readFileSync('db')].map(() => 'whole') : []),
  add: answer => {
    const count = fs.existsSync('db') ? fs.statSync('db').size : 0
    fs.writeFileSync('db.tmp', 'x'.repeat(count + 1))
    sync('db.tmp', 'r+')
    fs.renameSync('db.tmp', 'db')
    if (isSynced) sync('.', 'r')
    answer()
  },
})
const logged = (isSyncedFirst, isChecked, waitMs = 0) => ({
  read: () => replay(isChecked).map(each => (isWhole(each) ? 'whole' : 'torn')),
  add: answer => {
    // What the last life left torn is cut off.
    if (isChecked && fs.existsSync('log')) fs.truncateSync('log', replay(true).length * recordLength)
    fs.appendFileSync('log', Buffer.alloc(recordLength, 1))
    if (waitMs > 0) return setTimeout(() => { sync('log', 'r+'); sync('.', 'r'); answer() }, waitMs)
    if (!isSyncedFirst) return answer(() => { sync('log', 'r+'); sync('.', 'r') })
    sync('log', 'r+')
    sync('.', 'r')
    answer()
  },
})
const { read, add } = {
  'no sync of the directory': renamed(false),
  'with a sync of the directory': renamed(true),
  'an answer before the sync': logged(false, true),
  'that syncs first': logged(true, true),
  'belief in its log': logged(true, false, 10),
  'an answer and then a sync at once': { ...logged(true, true), add: answer => {
    fs.appendFileSync('log', Buffer.alloc(recordLength, 1))
    answer()
    setImmediate(() => { sync('log', 'r+'); sync('.', 'r') })
  } },
  'belief in a log synced at once': logged(true, false),
  'that syncs later, and answers then': logged(true, true, 10),
}[manner]
const say = () => console.log(JSON.stringify({ words: read() }))
say()
require('http').createServer((_, response) => {
  add(then => { response.end(); say(); if (then) setTimeout(then, 1000) })
}).listen(8080)
`

type Words = readonly ('whole' | 'torn')[]
const words = (state: GlobalState) => (state.node('store').state as { words: Words } | undefined)?.words

const properties = {
  nothingLost: always<GlobalState>(state => {
    const told = state.calls.filter(({ value }) => value === 200).length
    return (words(state) ?? { length: told }).length >= told
  }),
  nothingTorn: always<GlobalState>(state => (words(state) ?? []).every(each => each === 'whole')),
}

const search = (manner: string, model: DiskModel, executions: number) =>
  check(
    clusterOf(
      {
        nodes: { store: { command: ['node', 'store.js', manner], listens: 8080 } },
        state: jsonLines('stdout'),
        clients: { put: { run: async ({ store }) => (await store!.http(8080, '/')).statusCode, times: 2 } },
        faults: { power: 1 },
        disk: { model },
      },
      { 'store.js': store },
    ),
    properties,
    { milliseconds: 60_000, executions },
  )

test.each<[string, DiskModel, string, RegExp]>([
  ['no sync of the directory', 'ordered', 'nothingLost', /^power store /],
  ['no sync of the directory', 'posix', 'nothingLost', /^power store /],
  ['an answer before the sync', 'ordered', 'nothingLost', /^power store /],
  [
    'an answer and then a sync at once',
    'ordered',
    'nothingLost',
    /^power store before sync or message \d keeps (none|a torn end)$/,
  ],
  [
    'belief in a log synced at once',
    'posix',
    'nothingTorn',
    /^power store before sync or message \d keeps a torn end$/,
  ],
  ['belief in its log', 'posix', 'nothingTorn', / torn/],
])(
  'a store with %s is found out, on a disk that is %s',
  { timeout: 120_000 },
  async (manner, model, property, power) => {
    const found = await search(manner, model, 300)
    expect(found).toMatchObject({ verdict: 'violated', property, repeated: true })
    expect(found).toMatchObject({ verdict: 'violated', property, repeated: true })
    expect(found.schedule).toContainEqual(expect.stringMatching(power))
    expect(found.schedule.at(-1)).toBe('restart store')
  },
)

test.each<[string, DiskModel]>([
  ['with a sync of the directory', 'ordered'],
  ['with a sync of the directory', 'posix'],
  ['that syncs first', 'ordered'],
  ['that syncs first', 'posix'],
  ['that syncs later, and answers then', 'posix'],
])('a store %s holds, on a disk that is %s', { timeout: 120_000 }, async (manner, model) => {
  const found = await search(manner, model, 25)
  expect(found).toMatchObject({ verdict: 'held' })
})
