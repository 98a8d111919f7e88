import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../../checker/system/random.ts'
import { stateOf } from '../../harness/clients/state.ts'
import { type GlobalState, type ResolvedNode, type ResolvedSystem, withAddresses } from '../../harness/config/config.ts'

/** The result of plain random testing. */
export interface PlainResult {
  readonly violated: string | null
  readonly rounds: number
  readonly seconds: number
}

export interface PlainOptions {
  readonly milliseconds: number
  readonly seed: number
}

/** Lengths of one round: faults and clients in the first part, then the system is left alone. */
const faultsMs = 5_000
const patienceMs = 10_000
const lookMs = 20
/** Stopping a process for a while has the effect of a slow network. */
const pauseMsMax = 400
const pauses = 6

/**
 * Tests as one would without a checker: the system's processes run on loopback and on the machine's own clock; restarts (as
 * many as the configuration allows), pauses and clients are random; and properties are evaluated all the time. A liveness
 * property is violated if it does not hold once within ten seconds after the last fault.
 */
export const testPlainly = async (system: ResolvedSystem, options: PlainOptions): Promise<PlainResult> => {
  const random = new Random(options.seed)
  const begun = performance.now()
  const elapsed = () => performance.now() - begun
  for (let rounds = 1; ; rounds++) {
    const round = new Round(system, random.fork())
    try {
      const violated = await round.run(() => elapsed() > options.milliseconds)
      const isOver = elapsed() > options.milliseconds
      if (violated !== null || isOver) return { violated, rounds, seconds: Number((elapsed() / 1000).toFixed(1)) }
    } finally {
      await round.end()
    }
  }
}

class Round {
  readonly #system: ResolvedSystem
  readonly #random: Random
  readonly #nodes: PlainNode[]

  constructor(system: ResolvedSystem, random: Random) {
    this.#system = system
    this.#random = random
    const net = `127.${1 + Math.floor(random.next() * 250)}.${Math.floor(random.next() * 250)}`
    const addresses = Object.fromEntries(system.nodes.map(({ name }, index) => [name, `${net}.${index + 1}`]))
    this.#nodes = system.nodes.map(node => new PlainNode(withAddresses(node, addresses), addresses[node.name]!))
  }

  /** The property that was violated. */
  async run(isOver: () => boolean): Promise<string | null> {
    for (const node of this.#nodes) node.start()
    const plan = this.#plan()
    const begun = performance.now()
    const live = new Set<string>()
    while (!isOver()) {
      const now = performance.now() - begun
      while (plan[0] && plan[0].at <= now) plan.shift()!.act()
      const state = this.#state()
      const wrong = this.#named('always').find(([, property]) => !property.holds(state))
      if (wrong) return wrong[0]
      if (now > faultsMs)
        for (const [name, property] of this.#named('eventually')) if (property.holds(state)) live.add(name)
      const starved = this.#named('eventually').find(([name]) => !live.has(name))
      if (now > faultsMs && !starved) return null
      if (now > faultsMs + patienceMs) return starved![0]
      await sleep(lookMs)
    }
    return null
  }

  async end(): Promise<void> {
    await Promise.all(this.#nodes.map(node => node.end()))
  }

  #named(kind: 'always' | 'eventually') {
    return Object.entries(this.#system.properties).filter(([, property]) => property.kind === kind)
  }

  /** The planned events, in order of time. */
  #plan() {
    const { faults, clients } = this.#system
    const any = () => this.#random.pick(this.#nodes)
    const restarts = Array.from({ length: faults.reset + faults.crash }, () => any())
    const acts = [
      ...restarts.map(node => () => node.restart()),
      ...Array.from({ length: pauses }, () => () => any().pause(this.#random.next() * pauseMsMax)),
      ...clients.map(
        client => () =>
          void client.run(this.#handles(), { ordinal: 1, operation: (_, perform) => perform() }).catch(() => undefined),
      ),
    ]
    return acts.map(act => ({ at: this.#random.next() * faultsMs, act })).sort((one, other) => one.at - other.at)
  }

  // biome-ignore lint/suspicious/noExplicitAny: clients of the corpus use no more of a handle than this
  #handles(): any {
    return Object.fromEntries(this.#nodes.map(node => [node.name, node]))
  }

  #state(): GlobalState {
    const nodes = this.#nodes.map(node => {
      const { name, isAlive: alive, output } = node
      // biome-ignore lint/suspicious/noExplicitAny: as above
      return { name, alive, state: alive ? this.#system.observe?.(node as any) : undefined, output: output() }
    })
    return stateOf(nodes, [], [])
  }
}

class PlainNode {
  readonly name: string
  readonly address: string
  readonly #definition: ResolvedNode
  readonly #disk = mkdtempSync(join(tmpdir(), 'lastnail-plain-'))
  #process: ChildProcess | undefined
  #stdout = ''
  isAlive = false

  constructor(definition: ResolvedNode, address: string) {
    this.#definition = definition
    this.name = definition.name
    this.address = address
  }

  start(): void {
    const { command, env, cwd } = this.#definition
    // Programs are found beside the configuration; what they write goes to a directory of the node's own.
    const [program, ...args] = command.map(part => (existsSync(join(cwd!, part)) ? join(cwd!, part) : part))
    const child = spawn(program!, args, {
      cwd: this.#disk,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    this.#process = child
    this.#stdout = ''
    this.isAlive = true
    child.stdout.on('data', bytes => {
      if (child === this.#process) this.#stdout += bytes
    })
    child.once('exit', () => {
      if (child === this.#process) this.isAlive = false
    })
  }

  restart(): void {
    this.#process?.kill('SIGKILL')
    this.isAlive = false
    const before = this.#process
    before?.once('exit', () => {
      if (this.#process === before) this.start()
    })
  }

  pause(milliseconds: number): void {
    const child = this.#process
    child?.kill('SIGSTOP')
    setTimeout(() => child?.kill('SIGCONT'), milliseconds)
  }

  async end(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child && child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    rmSync(this.#disk, { recursive: true, force: true })
  }

  readonly output = () => ({ stdout: this.#stdout, stderr: '' })
  readonly tcp = (port: number) => connect(port, this.address)
}
