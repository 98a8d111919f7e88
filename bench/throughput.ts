/**
 * How many bytes a second one TCP connection carries between two namespaces: through the router of the message plane,
 * which holds and delivers all of it, and through a kernel that forwards packets, by turns.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { NetworkNamespace } from '../linux/namespace.ts'
import { openTun } from '../linux/tun.ts'
import { Network } from '../proxy/network.ts'
import * as forwarding from './forwarding-kernel.ts'
import { median, row, whole } from './table.ts'

const rounds = 3
const addresses = ['10.77.0.2', '10.77.1.2'] as const
const program = join(import.meta.dirname, '../../bench/service/stream.cjs')

/** Two namespaces with a way between them. */
interface Way {
  readonly sender: NetworkNamespace
  readonly receiver: NetworkNamespace
  /** Moves packets, if this process is what forwards them. */
  move(): Promise<unknown>
  close(): void
}

const throughRouter = (): Way => {
  const network = new Network()
  const [sender, receiver] = [NetworkNamespace.create(), NetworkNamespace.create()]
  network.attachments.attach('sender', addresses[0], openTun(sender, addresses[0]))
  network.attachments.attach('receiver', addresses[1], openTun(receiver, addresses[1]))
  return {
    sender,
    receiver,
    async move() {
      while (network.kernels.pump() || network.kernels.feed());
      network.endStep()
      for (const message of network.messages.deliverable()) network.messages.deliver(message)
      await nextTurn()
    },
    close() {
      for (const name of ['sender', 'receiver']) network.attachments.detach(name, 'nothing')
      for (const namespace of [sender, receiver]) namespace.close()
    },
  }
}

const throughKernel = (): Way => {
  const { namespaces, close } = forwarding.throughKernel(addresses, 'held')
  return { sender: namespaces[0], receiver: namespaces[1], move: () => sleep(20), close }
}

/** Megabytes a second, as the receiver sees them. */
const measure = async (way: Way): Promise<number> => {
  const start = (namespace: NetworkNamespace, role: string) => {
    const args = [program, role, addresses[1]]
    return namespace.run(() => spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }))
  }
  const receiver = start(way.receiver, 'receive')
  let said = ''
  receiver.stdout.on('data', (data: Buffer) => {
    said += data
  })
  await once(receiver.stdout, 'data')
  const sender = start(way.sender, 'send')
  while (sender.exitCode === null || receiver.exitCode === null) await way.move()
  way.close()
  return Number(said.replace('ready', ''))
}

const figures: { router: number; kernel: number }[] = []
for (let round = 0; round < rounds; round++)
  figures.push({ router: await measure(throughRouter()), kernel: await measure(throughKernel()) })
const router = median(figures.map(figure => figure.router))
const kernel = median(figures.map(figure => figure.kernel))
row('one TCP stream through the router', whole(router), 'MB/s')
row('the same through a forwarding kernel', whole(kernel), 'MB/s')
row('router to kernel', (router / kernel).toFixed(2), '')
