import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../checker/trace/read.ts'
import { copyOfFixtures, lastnail } from './lastnail.ts'

const mbit = 1e6
const client = (id: string) => ({ id, role: 'client' })
/** Three machines around a router; that of `r` has a narrow link. */
const star = {
  nodes: [{ id: 'hub', role: 'transit' }, client('r'), client('a'), client('b')],
  links: [
    { from: 'hub', to: 'r', class: 'client-stub', delayMs: 5, bandwidth: mbit, queue: { packets: 50 } },
    { from: 'hub', to: 'a', class: 'client-stub', delayMs: 10, bandwidth: 10 * mbit },
    { from: 'hub', to: 'b', class: 'client-stub', delayMs: 10, bandwidth: 10 * mbit },
  ],
}
const streams = `
import { defineSystem, jsonLines } from 'lastnail'
export default defineSystem({
  name: 'links',
  nodes: {
    r: { command: ['node', 'stream.cjs', 'receive'] },
    a: { command: ['node', 'stream.cjs', 'send', '{{r.address}}', 'xy'] },
    b: { command: ['node', 'stream.cjs', 'send', '{{r.address}}', 'z'] },
  },
  state: jsonLines('stdout'),
  emulation: { topology: 'star.json' },
})
`

/** Bits a second that came of each stream. */
const ratesAt = async (...args: readonly string[]): Promise<number[]> => {
  const { directory, remove } = copyOfFixtures({ 'links.config.ts': streams, 'star.json': JSON.stringify(star) })
  onTestFinished(remove)
  const { code, stdout, stderr } = await lastnail(directory, 'emulate', 'links.config.ts', ...args, '--json')
  expect(stderr).not.toMatch(/\n\s+at /)
  expect(code).toBe(0)
  const { trace, virtualSeconds } = JSON.parse(stdout)
  const received = readTrace(join(directory, trace)).steps.flatMap(({ states }) =>
    states.flatMap(({ node, state }) => (node === 'r' && state ? [state as Readonly<Record<string, number>>] : [])),
  )
  return ['x', 'y', 'z'].map(name => ((received.at(-1)?.[name] ?? 0) * 8) / virtualSeconds)
}

test('three streams share the link of the machine that receives them, whose they are: a third each', async () => {
  const rates = await ratesAt('--for', '60s')
  for (const rate of rates) {
    expect(rate).toBeGreaterThan(0.27 * mbit)
    expect(rate).toBeLessThan(0.39 * mbit)
  }
})

test('so they do in real time, however that is kept', { timeout: 60_000 }, async () => {
  const both = await Promise.all(['real', 'native'].map(pace => ratesAt('--pace', pace, '--for', '7s')))
  for (const rates of both) {
    // By far not each the whole.
    for (const rate of rates) expect(rate).toBeLessThan(0.7 * mbit)
    expect(rates.reduce((sum, rate) => sum + rate)).toBeLessThan(1.05 * mbit)
    expect(rates.reduce((sum, rate) => sum + rate)).toBeGreaterThan(0.4 * mbit)
  }
})
