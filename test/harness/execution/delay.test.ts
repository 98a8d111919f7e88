import { expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import type { SystemDefinition } from '../../../harness/config/config.ts'
import { clusterOf, labelsOf, take } from '../system.ts'

const files = {
  'asker.js': `
    const { connect } = require('node:net')
    setTimeout(() => {
      const giveUp = setTimeout(() => process.exit(3), 10_000)
      connect(7000, 'answerer').on('data', () => clearTimeout(giveUp))
    }, 5)`,
  'answerer.js': `require('node:net').createServer(socket => socket.end('yes')).listen(7000)`,
}

const system = (options: Partial<SystemDefinition> = {}) =>
  clusterOf(
    {
      nodes: {
        answerer: { command: [process.execPath, 'answerer.js'], listens: 7000 },
        asker: { command: [process.execPath, 'asker.js'] },
      },
      ...options,
    },
    files,
  )

test('a timer that fires while a message is in flight says how long it was in flight', async () => {
  const cluster = system()
  await cluster.reset()
  expect(await take(cluster, 'asker timer +5ms')).toMatchObject({ delayMs: undefined })
  expect(await take(cluster, 'asker timer +10000ms')).toMatchObject({ delayMs: 10_000, findings: [{ kind: 'crash' }] })
})

test('no timer is enabled that would keep a message in flight for longer than the configuration allows', async () => {
  const cluster = system({ delay: '9s' })
  await cluster.reset()
  await take(cluster, 'asker timer +5ms')
  expect(labelsOf(cluster)).toEqual(['asker→answerer #1 open :7000'])
  await take(cluster, 'asker→answerer #1 open :7000')
  expect(labelsOf(cluster)).not.toContain('asker timer +10000ms')
})

test('a crash that needs a slow network is told as such, and a configuration can rule it out', {
  timeout: 60_000,
}, async () => {
  const found = await check(system(), {}, { executions: 100 })
  expect(found).toMatchObject({ verdict: 'violated', kind: 'crash', delayMs: 10_000, repeated: true })
  expect(found.schedule).toEqual(['asker timer +5ms', 'asker timer +10000ms'])
  expect(await check(system({ delay: '9s' }), {}, { executions: 50 })).toMatchObject({ verdict: 'held', delayMs: null })
})

test('a way that is cut does not make the network a slow one', async () => {
  const cluster = system({ faults: { partition: 1 } })
  await cluster.reset()
  await take(cluster, 'asker timer +5ms')
  await take(cluster, 'cut asker→answerer')
  expect(await take(cluster, 'asker timer +10000ms')).toMatchObject({
    delayMs: undefined,
    findings: [{ kind: 'crash' }],
  })
})
