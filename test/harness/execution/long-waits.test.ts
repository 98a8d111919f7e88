import { expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { always } from '../../../checker/system/property.ts'
import type { GlobalState } from '../../../harness/config/config.ts'
import { clusterOf } from '../system.ts'

/** It knows a payment for 50 seconds, and makes it again after that. */
const bank = `
let paid = 0
let known = 0
const tell = () => console.log(JSON.stringify({ paid }))
setInterval(() => { if (known > 0) known -= 1 }, 10_000)
setInterval(() => {}, 4_000)
require('node:dgram').createSocket('udp4').bind(7000)
require('node:http').createServer(({ url }, response) => {
  if (url === '/pay' && known === 0) { paid += 1; known = 5; tell() }
  response.end()
}).listen(8080)
`
const monitor = `
const socket = require('node:dgram').createSocket('udp4')
setInterval(() => socket.send('ping', 7000, process.argv[2]), 1000)
`

test('real processes: a payment is made again by a call after a long wait', { timeout: 240_000 }, async () => {
  const cluster = clusterOf(
    {
      nodes: {
        bank: { command: ['node', 'bank.js'], listens: 8080 },
        monitor: { command: ['node', 'monitor.js', '{{bank.address}}'] },
      },
      clients: {
        pay: { run: async ({ bank }) => (await bank!.http(8080, '/pay')).statusCode, times: 3 },
        ask: { run: async ({ bank }) => (await bank!.http(8080, '/')).statusCode, times: 3 },
      },
    },
    { 'bank.js': bank, 'monitor.js': monitor },
  )
  const paidOnce = always<GlobalState>(s => !s.node('bank').output.stdout.includes('{"paid":2}'))
  const { verdict, discovery } = await check(cluster, { paidOnce }, { executions: 400, seed: 1 })
  if (process.env.SHOW) console.log(discovery)
  expect(verdict).toBe('violated')
})
