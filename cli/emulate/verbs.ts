import { type Command, InvalidArgumentError, Option } from 'commander'
import { nodeVerbs } from '../../checker/happening/happenings.ts'
import type { StrikeKind } from '../../checker/happening/strikes.ts'
import { describeLink } from '../../checker/happening/ways.ts'
import { UsageError } from '../../checker/system/errors.ts'
import type { PipeSettings } from '../../proxy/forwarding/pipe.ts'
import { readText } from '../../topologies/formats/file.ts'
import { parseJump } from '../../topologies/formats/units.ts'
import { type Discipline, disciplines } from '../../topologies/topology.ts'
import { print } from '../command/print.ts'
import { atLeastZero, share, wholeNumber } from '../command/values.ts'
import { type Controller, control } from './client.ts'
import type { RunState } from './control.ts'
import { showOutput } from './show-output.ts'

interface Where {
  readonly run?: string
  readonly url?: string
  readonly token?: string
}

interface PipeOptions {
  readonly delay?: number
  readonly jitter?: number
  readonly bandwidth?: number
  readonly queue?: number
  readonly discipline?: Discipline
  readonly loss?: number
  readonly cross?: number
  readonly burst?: number
  readonly duplicate?: number
  readonly reorder?: number
  readonly corrupt?: number
  readonly cut?: boolean
  readonly clear?: boolean
  readonly both?: boolean
}

type ShapeOptions = Pick<PipeOptions, 'jitter' | 'bandwidth' | 'queue' | 'discipline' | 'cross' | 'burst'>

type LinkOptions = ShapeOptions &
  Pick<PipeOptions, 'delay' | 'loss' | 'clear'> & {
    readonly down?: boolean
    readonly up?: boolean
  }

interface TerminalOptions {
  readonly interactive?: boolean
  readonly tty?: boolean
}

interface Json {
  readonly json?: boolean | undefined
}

/** Faults that strike a node in its next step. */
const strikeVerbs: Readonly<Record<StrikeKind, string>> = {
  disk: 'lets a node’s disk fail in its next step: n1 fails at sync 1, n1 is full from write 2, n1 loses write 1',
  preempt: 'lets threads of a node give way in its next step: n1 before call 6',
  calls: 'lets a system call of a node do less in its next step: n1 short read 1, n1 no descriptor 1',
  split: 'lets the next message on a connection to a node arrive in two parts: n1 at half',
}

/** Adds the commands `control VERB` for a running system. */
export const addControlCommands = (root: Command, done: (code: number) => void): void => {
  const command = root
    .command('control')
    .description('queries or changes a system that lastnail emulate runs')
    .option('--run <name>', 'which running system, by its name or run directory')
    .option('--url <url>', 'its control address (that of the only running system)')
    .option('--token <token>', 'the token that it printed at its start')
  const controller = (): Controller => controllerAt(command.opts<Where>())
  /** A verb whose answer is how the run is afterwards. */
  const verb = (name: string, description: string): Command =>
    command.command(name).description(description).option('--json', 'prints one JSON object')
  const tell = (running: RunState, { json }: Json) => void print(json ? JSON.stringify(running) : describe(running))
  for (const { verb: name, about } of nodeVerbs)
    verb(name, about)
      .argument('<node>')
      .action(async (node: string, options: Json) => tell(await controller()[name](node), options))
  verb('reset', 'resets the connections between two nodes')
    .argument('<node>')
    .argument('<peer>')
    .action(async (node: string, peer: string, options: Json) => tell(await controller().reset(node, peer), options))
  verb('clock', 'lets a node’s wall clock jump: n1 +1h, or n1 -2s; its monotonic clock does not notice')
    .argument('<node>')
    .argument('<jump>', 'forwards or back', jumpIn)
    .action(async (node: string, byMs: number, options: Json) => tell(await controller().clock(node, byMs), options))
  verb('name', 'lets a name mean another node: primary db2; who has asked before may remember the other address')
    .argument('<name>')
    .argument('<node>')
    .action(async (name: string, node: string, options: Json) => tell(await controller().name(name, node), options))
  for (const [name, about] of Object.entries(strikeVerbs) as [StrikeKind, string][])
    verb(name, about)
      .argument('<node>')
      .argument('<how...>')
      .action(async (node: string, how: string[], options: Json) =>
        tell(await controller()[name](node, how.join(' ')), options),
      )
  verb('partition', 'splits the network so that only nodes of the same group reach each other: n1,n2 n3')
    .argument('<group...>', 'names separated by commas; nodes without a group form another one')
    .action(async (groups: string[], options: Json) =>
      tell(await controller().partition(...groups.map(group => group.split(','))), options),
    )
  verb('heal', 'ends a partition').action(async (options: Json) => tell(await controller().heal(), options))
  withPipe(
    verb('set', 'adds delay, loss and the like from one node to another, on top of the pipes between them')
      .argument('<from>')
      .argument('<to>')
      .option('--both', 'applies it to the way back too'),
  )
    .option('--duplicate <share>', 'share of packets that arrive twice', share)
    .option('--reorder <share>', 'share of packets that overtake others', share)
    .option('--corrupt <share>', 'share of packets with one bit flipped', share)
    .option('--cut', 'nothing passes')
    .option('--clear', 'removes earlier settings')
    .action(async (from: string, to: string, { both, json, ...options }: PipeOptions & Json) => {
      const setting = settingOf(options)
      const ways = both
        ? [
            { from, to, ...setting },
            { from: to, to: from, ...setting },
          ]
        : [{ from, to, ...setting }]
      tell(await controller().set(...ways), { json })
    })
  withPipe(
    verb('link', 'changes a link of the topology, in both directions')
      .argument('<end>', 'a node, for its own link; or one end of a link')
      .argument('[end]', 'the other end'),
  )
    .option('--down', 'nothing passes')
    .option('--up', 'packets pass again')
    .option('--clear', 'restores the link as it was at the start')
    .action(async (end: string, other: string | undefined, { json, ...options }: LinkOptions & Json) => {
      const link = other === undefined ? end : ([end, other] as const)
      tell(await controller().link({ link, ...linkChangeOf(options) }), { json })
    })
  verb('list', 'shows nodes, the settings between them, and the links that were changed').action(
    async (options: Json) => tell(await controller().list(), options),
  )
  verb(
    'plan',
    'plans what happens later, in place of an earlier such plan: lines such as "90s leave n1 kill", with times of the run',
  )
    .argument('<file>', 'the script; an empty one takes everything back')
    .action(async (file: string, options: Json) => tell(await controller().plan(readText(file)), options))
  verb('add', 'adds a node that the configuration does not have, and starts it, at the pace native: n9 --like n1')
    .argument('<name>')
    .requiredOption('--like <node>', 'whose program, files and settings it has')
    .action(async (name: string, { like, ...options }: Json & { readonly like: string }) =>
      tell(await controller().add(name, like), options),
    )
  verb('exec', 'runs a program in a node: control exec n1 -- redis-cli ping')
    .argument('<node>')
    .argument('<command...>', 'after --')
    .option('-i, --interactive', 'with -t: what is typed here goes to the program')
    .option('-t, --tty', 'gives the program a terminal, which is shown here; at the pace native')
    .action(async (node: string, words: string[], { json, interactive, tty }: Json & TerminalOptions) => {
      if (interactive || tty) {
        if (!interactive || !tty) throw new UsageError('expected -i and -t together: exec -it n1 -- sh')
        if (json)
          throw new UsageError('expected -it or --json, found both: what a terminal shows is not printed as JSON')
        return done(await controller().terminal(node, words))
      }
      const { exitCode, stdout, stderr } = await controller().exec(node, words)
      if (json) {
        print(JSON.stringify({ exitCode, stdout, stderr }))
        return done(exitCode)
      }
      if (stdout !== '') print(stdout)
      if (stderr !== '') process.stderr.write(`${stderr}\n`)
      done(exitCode)
    })
  command
    .command('output')
    .description('prints what a node has printed so far')
    .argument('<node>')
    .option('--stderr', 'its stderr instead')
    .option('--follow', 'continues until the run is over')
    .action(async (node: string, options: { stderr?: boolean; follow?: boolean }) => {
      await showOutput(controller(), node, options)
    })
  command
    .command('metrics')
    .description('what Prometheus reads')
    .action(async () => void print((await controller().metrics()).trimEnd()))
}

/** Adds the options that say how packets pass a pipe. */
const withPipe = (command: Command): Command =>
  command
    .option('--delay <ms>', 'propagation', atLeastZero)
    .option('--jitter <ms>', 'variation of the delay, up and down', atLeastZero)
    .option('--bandwidth <bits>', 'a second', wholeNumber)
    .option('--queue <packets>', 'how many packets may wait for bandwidth', wholeNumber)
    .addOption(new Option('--discipline <name>', 'how --queue drops packets').choices(disciplines))
    .option('--loss <share>', 'share of packets that are lost, from 0 to 1', share)
    .option('--cross <bits>', 'a second, traffic of others that takes bandwidth; 0 for none', wholeNumber)
    .option('--burst <packets>', 'how many packets of --cross come at once', wholeNumber)

/** @throws InvalidArgumentError */
const jumpIn = (text: string): number => {
  const byMs = parseJump(text)
  if (byMs === undefined) throw new InvalidArgumentError('Expected a jump such as +1h or -2s.')
  return byMs
}

const controllerAt = ({ run, url, token }: Where): Controller => {
  if (url === undefined && token === undefined) return control(run)
  if (run !== undefined) throw new UsageError('expected --run, or --url and --token, not both')
  if (url === undefined || token === undefined)
    throw new UsageError('expected both --url and --token, as lastnail emulate printed them')
  if (!URL.canParse(url))
    throw new UsageError(`--url: expected a URL such as http://127.0.0.1:4000, found ${JSON.stringify(url)}`)
  return control({ origin: new URL(url).origin, token })
}

/** Jitter, bandwidth, queue and cross traffic of a pipe, as far as they are given. @throws UsageError */
const shapeOf = ({ jitter, bandwidth, queue, discipline, cross, burst }: ShapeOptions) => {
  if (discipline && queue === undefined) throw new UsageError('--discipline: expected --queue beside it')
  if (burst !== undefined && cross === undefined) throw new UsageError('--burst: expected --cross beside it')
  return {
    ...(jitter !== undefined && { jitterMs: jitter }),
    ...(bandwidth !== undefined && { bandwidth }),
    ...(queue !== undefined && { queue: { packets: queue, ...(discipline && { discipline }) } }),
    ...(cross !== undefined && { cross: { bandwidth: cross, ...(burst !== undefined && { burst }) } }),
  }
}

const settingOf = ({ cut, clear, delay, loss, duplicate, reorder, corrupt, ...shaped }: Omit<PipeOptions, 'both'>) => {
  const shape = shapeOf(shaped)
  if (clear) return { pipe: null, isCut: false }
  if (shape.cross && shape.bandwidth === undefined) throw new UsageError('--cross: expected --bandwidth beside it')
  const shares = Object.entries({ loss, duplicate, reorder, corrupt }).filter(([, share]) => share !== undefined)
  const given: PipeSettings = { delayMs: delay ?? 0, ...shape, ...Object.fromEntries(shares) }
  const isNothing = delay === undefined && Object.keys(given).length === 1
  if (isNothing && !cut) throw new UsageError('expected a setting such as --loss 0.1, --cut or --clear')
  return { ...(cut && { isCut: true }), ...(!isNothing && { pipe: given }) }
}

const linkChangeOf = ({ delay, loss, clear, down, up, ...shaped }: LinkOptions) => {
  const shape = shapeOf(shaped)
  if (down && up) throw new UsageError('expected --down or --up, not both')
  const change = {
    ...(clear && { asBefore: true }),
    ...((down || up) && { isDown: down === true }),
    ...(delay !== undefined && { delayMs: delay }),
    ...shape,
    ...(loss !== undefined && { loss }),
  }
  if (Object.keys(change).length === 0)
    throw new UsageError('expected what the link does from now on, such as --delay 200, --down or --clear')
  return change
}

const describe = ({ system, elapsedMs, nodes, groups, planned, ways, links }: RunState): string[] => [
  `${system}, ${(elapsedMs / 1000).toFixed(1)} s`,
  ...nodes.map(
    ({ name, address, isAlive, isCut }) => `  ${name} ${address} ${isAlive ? 'up' : 'down'}${isCut ? ', cut' : ''}`,
  ),
  ...(groups ? [`  partition: ${groups.map(group => group.join(',')).join(' ')}`] : []),
  ...planned.map(({ atMs, happening }) => `  at ${atMs / 1000} s: ${happening}`),
  ...links.map(change => `  link ${describeLink(change)}`),
  ...ways.map(
    ({ from, to, isCut, pipe }) =>
      `  ${from}→${to}: ${[isCut && 'cut', pipe && JSON.stringify(pipe)].filter(Boolean).join(', ')}`,
  ),
]
