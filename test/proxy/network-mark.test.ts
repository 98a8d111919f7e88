import { expect, test } from 'vitest'
import { frames } from '../../proxy/dissect/frames.ts'
import type { Dissector, Frame } from '../../proxy/dissector.ts'
import { Network, type NetworkOptions } from '../../proxy/network.ts'
import { MemoryKernel } from './memory-kernel.ts'

const options: NetworkOptions = { dissector: port => (port === 80 ? frames.http1() : undefined) }
const [first, second] = ['10.0.0.1', '10.0.0.2'] as const

const step = (network: Network) => {
  while (network.kernels.pump() || network.kernels.feed());
  network.endStep()
}
const labels = (network: Network) => network.messages.all().map(({ label }) => label)
const deliverAll = (network: Network) => {
  while (network.messages.deliverable().length > 0) {
    network.messages.deliver(network.messages.deliverable()[0]!)
    step(network)
  }
}

/** A request half of which has come, with its connection open, and a second connection asked for. */
const build = (how = options) => {
  const network = new Network(how)
  const kernels = [new MemoryKernel(first), new MemoryKernel(second)] as const
  for (const [index, kernel] of kernels.entries())
    network.attachments.attach(`n${index + 1}`, [first, second][index]!, kernel)
  kernels[1].listen(80)
  const opener = kernels[0].connect(second, 80)
  step(network)
  deliverAll(network)
  opener.write(Buffer.from('GET /whole HTTP/1.1\r\n\r\nGET /ha'))
  kernels[0].connect(second, 80)
  step(network)
  return { network, kernels, opener }
}

/** With the same kernels, which have not noticed. */
const again = (mark: ReturnType<Network['mark']>, kernels: readonly MemoryKernel[], how = options) => {
  const network = new Network(how, mark)
  for (const [index, kernel] of kernels.entries())
    network.attachments.attach(`n${index + 1}`, [first, second][index]!, kernel)
  return network
}

test('a network made from a mark goes on with connections, messages, halves of frames and numbers', () => {
  const { network, kernels, opener } = build()
  const other = again(network.mark(), kernels)
  expect(labels(other)).toEqual(labels(network))
  expect(other.faults.connections()).toEqual(network.faults.connections())
  opener.write(Buffer.from('lf HTTP/1.1\r\n\r\n'))
  step(other)
  expect(labels(other)).toEqual(['n1→n2 #2 open :80', 'n1→n2 #3 GET /whole', 'n1→n2 #4 GET /half'])
  deliverAll(other)
  expect(kernels[1].accepted[0]!.read(Number.POSITIVE_INFINITY).toString()).toBe(
    'GET /whole HTTP/1.1\r\n\r\nGET /half HTTP/1.1\r\n\r\n',
  )
  expect(kernels[1].accepted).toHaveLength(2)
  expect(other.anomalies()).toEqual({ gaps: 0, retransmissions: 0, resent: 0, corrupt: 0 })
})

test('a mark stays as it is, whatever happens to the network', () => {
  const { network, kernels, opener } = build()
  const mark = network.mark()
  const before = labels(network)
  const copy = JSON.stringify(mark)
  opener.write(Buffer.from('lf HTTP/1.1\r\n\r\nGET /mo'))
  step(network)
  deliverAll(network)
  expect(JSON.stringify(mark)).toBe(copy)
  const other = again(mark, kernels)
  expect(labels(other)).toEqual(before)
  expect(other.connectionStates()).toContainEqual(
    expect.stringContaining(`half ${Buffer.from('GET /ha').toString('base64')}`),
  )
})

test('what a reader has read that cannot be copied is read again', () => {
  const lines = frames.lines()
  // Numbers the lines, and so must have read all of them.
  const numbering: Dissector = {
    name: 'numbered lines',
    datagram: lines.datagram,
    stream: direction => {
      const reader = lines.stream(direction)
      let count = 0
      const number = ({ bytes, label }: Frame) => ({ bytes, label: `${++count} ${label}` })
      return { push: chunk => reader.push(chunk).map(number), rest: () => reader.rest() }
    },
  }
  const { network, kernels, opener } = build({ dissector: () => numbering })
  deliverAll(network)
  const other = again(network.mark(), kernels, { dissector: () => numbering })
  opener.write(Buffer.from('next\n'))
  step(other)
  expect(labels(other)).toEqual(['n1→n2 #5 3 GET /hanext'])
})

test('cuts are kept', () => {
  const { network, kernels } = build()
  network.faults.cut([['n1', 'n2']])
  const other = again(network.mark(), kernels)
  expect(other.messages.deliverable()).toEqual([])
  other.faults.heal()
  expect(other.messages.deliverable().map(({ label }) => label)).toEqual(
    network.messages.all().map(({ label }) => label),
  )
})
