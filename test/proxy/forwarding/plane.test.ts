import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { ForwardingPlan } from '../../../proxy/forwarding/plan.ts'

/** As it was built, for the router's thread is a program of its own. */
const built = (name: string) => import(join(import.meta.dirname, `../../../dist/${name}.js`))
const { Plane }: typeof import('../../../proxy/forwarding/plane.ts') = await built('proxy/forwarding/plane')
const { NetworkNamespace }: typeof import('../../../linux/namespace.ts') = await built('linux/namespace')
const { closeTun, openForwardedTun, setOffloads }: typeof import('../../../linux/tun.ts') = await built('linux/tun')

const addresses = ['10.77.0.2', '10.77.1.3']
const [there, back] = [
  { from: 0, to: 1 },
  { from: 1, to: 0 },
]

const planWith = (delaysMs: readonly number[]): ForwardingPlan => {
  const pipes = delaysMs.map((_, index) => index)
  return {
    addresses,
    pipes: delaysMs.map(delayMs => ({ delayMs })),
    routes: [there, back].map(way => ({ ...way, pipes })),
    seed: 1,
  }
}

const echo = `require('net').createServer(socket => socket.pipe(socket)).listen(7000, () => console.log('ready'))`
/** One connection; a line for each answer, and then the next question. */
const ask = `
const socket = require('net').connect(7000, '${addresses[1]}', () => socket.write('?'))
socket.on('data', () => { console.log('answer'); setTimeout(() => socket.write('?'), 1) })`

/** Two hosts, the first of which asks and the second of which answers. */
const begin = async (plan: ForwardingPlan) => {
  const hosts = addresses.map(address => {
    const namespace = NetworkNamespace.create('native')
    return { address, namespace, descriptor: openForwardedTun(namespace, address) }
  })
  for (const { descriptor } of hosts) setOffloads(descriptor, true)
  const plane = new Plane(plan, hosts)
  const programs: ChildProcess[] = []
  const run = (host: number, source: string) => {
    const program = hosts[host]!.namespace.run(() => spawn(process.execPath, ['-e', source]))
    programs.push(program)
    return program
  }
  onTestFinished(async () => {
    for (const program of programs) program.kill('SIGKILL')
    await plane.end()
    for (const { namespace, descriptor } of hosts) {
      closeTun(descriptor)
      namespace.close()
    }
  })
  await once(run(1, echo).stdout!, 'data')
  let answers = 0
  run(0, ask).stdout!.on('data', text => {
    answers += String(text).split('answer').length - 1
  })
  return {
    plane,
    /** When there are more answers than now. */
    answered: async () => {
      for (const before = answers; answers <= before + 5; ) await sleep(5)
    },
    get answers() {
      return answers
    },
    /** Packets that the first host sent by an interface; undefined where it has none of that name. */
    sentBy: (name: string): number | undefined => {
      const devices = hosts[0]!.namespace.run(() => readFileSync('/proc/thread-self/net/dev', 'utf8'))
      const [, ...fields] =
        devices
          .match(new RegExp(`^ *${name}:.*$`, 'm'))?.[0]
          .trim()
          .split(/ +/) ?? []
      return fields.length === 0 ? undefined : Number(fields[9])
    },
  }
}

test('without pipes the kernel forwards and counts; a new pipe also applies to existing connections', async () => {
  const network = await begin(planWith([]))
  await network.answered()
  expect(network.sentBy('eth0')).toBe(0)
  expect(network.sentBy('eth1')).toBeGreaterThan(5)
  expect(network.plane.counts).toMatchObject({ cut: 0, lost: 0, forwarded: expect.any(Number) })
  expect(network.plane.counts.forwarded).toBeGreaterThan(10)
  expect(network.plane.counts.bytes).toBeGreaterThan(10 * 40)

  await network.plane.change([
    { ...there, isCut: true },
    { ...back, extra: { delayMs: 1 } },
  ])
  while (network.plane.counts.cut === 0) await sleep(5)
  // What was answered before has been read by now.
  await sleep(300)
  const { answers } = network
  await sleep(100)
  expect(network.answers).toBe(answers)
  const direct = network.sentBy('eth1')!

  await network.plane.change([{ ...there, isCut: false, extra: { delayMs: 1, duplicate: 1 } }])
  await network.answered()
  while (network.sentBy('eth0')! <= 5) await sleep(5)
  // But for the kernels, who ask for each other's Ethernet addresses now and then.
  expect(network.sentBy('eth1')).toBeLessThan(direct + 5)

  await network.plane.change([
    { ...there, extra: null },
    { ...back, extra: null },
  ])
  while (network.sentBy('eth1')! <= direct + 10) await sleep(5)
})

test('where all ways have pipes there is no other way', async () => {
  const network = await begin(planWith([1]))
  await network.answered()
  expect(network.sentBy('eth0')).toBeGreaterThan(5)
  expect(network.sentBy('eth1')).toBeUndefined()
})
