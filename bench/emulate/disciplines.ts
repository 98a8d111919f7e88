/**
 * Pipes at the pace native, compared with the kernel's own queueing disciplines between two veth devices: `tbf` for bandwidth and a
 * queue, `netem` for delay and loss, where this kernel has it.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pipe } from '../../topologies/topology.ts'
import { throughKernel } from '../forwarding-kernel.ts'
import { median } from '../table.ts'
import { receivedIn } from './blast.ts'
import { natively } from './natively.ts'
import { fetchFrom, isDone, serve, type Times, timesIn, topologyOf } from './transfers.ts'

const addresses = ['10.77.0.2', '10.77.1.2'] as const
const packetBytes = 1500
/** The kernel's disciplines count these too; pipes count what a packet has from its IP header on. */
const ethernetBytes = 14

interface Case {
  readonly pipe: Pipe & { readonly queue: { readonly packets: number } }
  /** Words for `tc qdisc add dev DEVICE root`. */
  readonly discipline: readonly string[]
}

const ofBandwidth = (bandwidth: number, packets: number): Case => ({
  pipe: { delayMs: 0, bandwidth, queue: { packets } },
  discipline: [
    ...['tbf', 'rate', `${Math.round((bandwidth * (packetBytes + ethernetBytes)) / packetBytes)}bit`],
    ...['burst', '1600', 'limit', String(packets * (packetBytes + ethernetBytes))],
  ],
})

const ofDelay = (delayMs: number, loss: number): Case => ({
  pipe: { delayMs, loss, queue: { packets: 1000 } },
  discipline: ['netem', 'delay', `${delayMs}ms`, 'loss', `${100 * loss}%`, 'limit', '1000'],
})

const cases: Readonly<Record<string, Case>> = {
  'tbf, 5 Mbit/s, 20 packets': ofBandwidth(5e6, 20),
  'tbf, 50 Mbit/s, 100 packets': ofBandwidth(50e6, 100),
  'netem, 5 ms': ofDelay(5, 0),
  'netem, 40 ms, 0.5 % loss': ofDelay(40, 0.005),
}

const packets = 5000
/** Half as many more than pass. */
const blastOf = (bandwidth: number, address: string) => [
  ...['node', '../../../bench/service/blast.cjs', 'send', address, String(packets), String(packetBytes - 28)],
  String(Math.round((1.5 * bandwidth) / (8 * packetBytes))),
]
const receive = ['node', '../../../bench/service/blast.cjs', 'receive']

/** What came of a blast: Mbit/s, and the share of packets that were lost. */
type Shares = readonly [mbits: number, lost: number]

const sharesIn = (output: string): Shares => {
  const { received, bytes, milliseconds } = receivedIn(output)
  return [(bytes * 8) / milliseconds / 1000, 100 * (1 - received / packets)]
}

/** Runs two programs, in this order, until they are done. @returns what each of them printed */
type Run = (
  commands: Readonly<Record<'a' | 'b', readonly string[]>>,
  order: readonly ['a' | 'b', 'a' | 'b'],
  isOver: (outputs: Readonly<Record<'a' | 'b', string>>) => boolean,
) => Promise<Readonly<Record<'a' | 'b', string>>>

const addressOf = { a: '{{a.address}}', b: '{{b.address}}' }

const throughPipes =
  ({ pipe }: Case): Run =>
  (commands, order, isOver) =>
    natively(
      { a: { command: commands.a }, b: { command: commands.b } },
      topologyOf(pipe),
      async ({ cluster, output }) => {
        const outputs = () => ({ a: output('a'), b: output('b') })
        await cluster.join(order[0])
        await sleep(500)
        await cluster.join(order[1])
        while (!isOver(outputs())) await sleep(200)
        return outputs()
      },
    )

const throughDisciplines =
  ({ discipline, pipe: { loss } }: Case): Run =>
  async (commands, order, isOver) => {
    const way = throughKernel(addresses, 'native')
    const lay = (device: string, words: readonly string[]) =>
      way.forwarder.run(() => execFileSync('tc', ['qdisc', 'add', 'dev', device, 'root', ...words], { stdio: 'pipe' }))
    const outputs = { a: '', b: '' }
    const children: ChildProcess[] = []
    try {
      lay('veth1', discipline)
      lay('veth0', loss === undefined ? discipline : discipline.toSpliced(3, 2))
      for (const name of order) {
        const [program, ...words] = commands[name].map(word =>
          word.replace(addressOf.a, addresses[0]).replace(addressOf.b, addresses[1]),
        )
        const child = way.namespaces[name === 'a' ? 0 : 1].run(() =>
          spawn(program!, words, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'] }),
        )
        child.stdout!.setEncoding('utf8').on('data', text => {
          outputs[name] += text
        })
        children.push(child)
        await sleep(500)
      }
      while (!isOver(outputs)) await sleep(200)
      return outputs
    } finally {
      for (const child of children) child.kill('SIGKILL')
      way.close()
    }
  }

const transfers = async (run: Run): Promise<Times> =>
  timesIn((await run({ a: serve, b: fetchFrom(addressOf.a) }, ['a', 'b'], ({ b }) => isDone(b))).b)

const blast = async (run: Run, bandwidth: number): Promise<Shares> => {
  let before = ''
  const isOver = ({ a, b }: { readonly a: string; readonly b: string }) => {
    const now = b.trimEnd().split('\n').at(-1)!
    const isStill = a.includes('sent') && now === before
    before = now
    return isStill
  }
  return sharesIn((await run({ a: blastOf(bandwidth, addressOf.b), b: receive }, ['b', 'a'], isOver)).b)
}

/** Why this kernel refuses a discipline. */
const refusal = ({ discipline }: Case): string | undefined => {
  const way = throughKernel(addresses, 'native')
  try {
    const tried = way.forwarder.run(() =>
      spawnSync('tc', ['qdisc', 'add', 'dev', 'veth1', 'root', ...discipline], { encoding: 'utf8' }),
    )
    return tried.status === 0 ? undefined : (tried.error?.message ?? tried.stderr.trim().split('\n')[0])
  } finally {
    way.close()
  }
}

const line = (what: string, pipe: number, kernel: number, unit: string) =>
  console.log(
    `  ${what.padEnd(16)} ${pipe.toFixed(1).padStart(9)} ${kernel.toFixed(1).padStart(9)} ${unit.padEnd(7)} ${((100 * pipe) / kernel - 100).toFixed(1)} %`,
  )

for (const [name, each] of Object.entries(cases)) {
  const refused = refusal(each)
  if (refused !== undefined) {
    console.log(`${name}: not compared, for this kernel refuses it: ${refused}`)
    continue
  }
  const [own, kernels] = [throughPipes(each), throughDisciplines(each)]
  console.log(`${name}: a pipe, the kernel’s discipline, the pipe beyond it`)
  const [here, there] = [await transfers(own), await transfers(kernels)]
  for (const [what, found] of here) line(what, median(found), median(there.get(what)!), 'ms')
  const { bandwidth } = each.pipe
  if (bandwidth === undefined) continue
  const [mine, theirs] = [await blast(own, bandwidth), await blast(kernels, bandwidth)]
  line('UDP that passes', mine[0], theirs[0], 'Mbit/s')
  line('  lost', mine[1], theirs[1], '%')
}
