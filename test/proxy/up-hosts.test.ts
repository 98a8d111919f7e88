import { closeSync, writeSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { pipe } from '../../linux/libc.ts'
import type { PacketLink } from '../../linux/link.ts'
import { Network } from '../../proxy/network.ts'

/** Nothing is ever read from it. It counts how often that was tried. */
const silentLink = (descriptor?: number): PacketLink & { reads: number } => ({
  descriptor,
  reads: 0,
  read() {
    this.reads += 1
    return 0
  },
  write() {},
  close() {},
})

const openPipe = () => {
  const made = pipe()
  onTestFinished(() => {
    closeSync(made.readEnd)
    closeSync(made.writeEnd)
  })
  return made
}

test('of all nodes only those are read that may have sent something', () => {
  const [silence, talk] = [openPipe(), openPipe()]
  const [quiet, talking, unknown] = [silentLink(silence.readEnd), silentLink(talk.readEnd), silentLink()]
  const network = new Network()
  network.attachments.attach('n1', '10.77.0.2', quiet)
  network.attachments.attach('n2', '10.77.0.3', talking)
  network.attachments.attach('n3', '10.77.0.4', unknown)
  writeSync(talk.writeEnd, 'x')
  network.kernels.pump()
  expect([quiet.reads, talking.reads, unknown.reads]).toEqual([0, 1, 1])
})

test('a node that was detached is not read any more, and one that came since is', () => {
  const [first, second] = [openPipe(), openPipe()]
  const [gone, come] = [silentLink(first.readEnd), silentLink(second.readEnd)]
  const network = new Network()
  network.attachments.attach('n1', '10.77.0.2', gone)
  network.kernels.pump()
  network.attachments.detach('n1', 'reset')
  network.attachments.attach('n2', '10.77.0.3', come)
  for (const { writeEnd } of [first, second]) writeSync(writeEnd, 'x')
  network.kernels.pump()
  expect([gone.reads, come.reads]).toEqual([0, 1])
})
