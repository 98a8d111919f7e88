import { beforeAll, describe, expect, test } from 'vitest'
import { copyOfFixtures, here, ofQuietMachine } from '../lastnail.ts'

/** A migration writes what the service must find when it starts. */
const config = (migration: string) => `
  import { defineSystem, jsonLines } from 'lastnail'
  export default defineSystem({
    name: 'migrated',
    nodes: {
      web: { command: ['node', 'web.js'], after: ['migration'], listens: 80 },
      migration: { command: ['node', '${migration}'], after: ['db'], exits: 'completes' },
      db: { command: ['node', 'db.js'], listens: 6379 },
    },
    state: jsonLines('stdout'),
    clients: { ann: async ({ web }) => (await web.http(80, '/')).body.text() },
  })`

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures({
    'db.js': `
      let tables = 'none'
      require('node:net').createServer(socket => {
        socket.on('data', data => { if (data.toString() === 'migrate') tables = 'made'; socket.end(tables) })
      }).listen(6379)`,
    'migration.js': `
      const socket = require('node:net').connect(6379, 'db')
      socket.on('connect', () => setTimeout(() => socket.write('migrate'), 1000)).on('data', () => {})
        .on('end', () => process.exit(0))`,
    'fails.js': 'setTimeout(() => process.exit(3), 100)',
    'hangs.js': "require('node:net').connect(6379, 'db')",
    'web.js': `
      const socket = require('node:net').connect(6379, 'db', () => socket.write('read'))
      socket.on('data', data => {
        console.log(JSON.stringify({ tables: data.toString() }))
        if (data.toString() !== 'made') process.exit(4)
        require('node:http').createServer((asked, response) => response.end('x')).listen(80)
      })`,
    'good.config.ts': config('migration.js'),
    'fails.config.ts': config('fails.js'),
    'hangs.config.ts': config('hangs.js'),
  })
  directory = copy.directory
  return copy.remove
})

const run = async (...args: readonly string[]) => {
  const { stdout, stderr, code } = await here(directory, ...args, '--json')
  expect(stdout, stderr).not.toBe('')
  return { code, ...JSON.parse(stdout.trim().split('\n').at(-1)!) }
}

test('a check starts a node once the one that it waits for has ended with code 0', async () => {
  const { code, verdict, states } = await run('check', 'good.config.ts', '--executions', '4', '--workers', '1')
  expect({ code, verdict, some: states > 1 }).toEqual({ code: 0, verdict: 'held', some: true })
})

describe.each(['virtual', 'real', 'native'])('a run at the pace %s', pace => {
  test('does so too', async () => {
    const { verdict, crashes, notes } = await run('emulate', 'good.config.ts', '--for', '4s', '--pace', pace)
    expect({ verdict, crashes, notes: ofQuietMachine(notes) }).toEqual({ verdict: 'held', crashes: 0, notes: [] })
  })
})

test('another end is a finding', async () => {
  const { verdict, crashes } = await run('emulate', 'fails.config.ts', '--for', '3s')
  expect({ verdict, crashes }).toEqual({ verdict: 'violated', crashes: 1 })
})

test('one that never ends is said', async () => {
  const { stderr, code } = await here(directory, 'check', 'hangs.config.ts', '--executions', '2', '--workers', '1')
  expect(stderr).toContain('migration waits for db:6379 and has not ended')
  expect(code).toBe(64)
})
