import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Weights } from '../../checker/choosers/weights.ts'
import type { DiskFailure } from '../../checker/happening/disk-failures.ts'
import type { FaultKind } from '../../checker/happening/kinds.ts'
import type { Operation } from '../../checker/history/operation.ts'
import type { Property } from '../../checker/system/property.ts'
import type { Dissector } from '../../proxy/dissector.ts'
import type { ChurnModel } from '../../topologies/churn/model.ts'
import type { Manner } from '../../topologies/churn/plan.ts'
import type { TopologyKind } from '../../topologies/generate/generate.ts'
import type { Topology } from '../../topologies/topology.ts'
import type { Outside } from '../outside/answers.ts'
import type { DiskModel } from '../unsynced/unsynced.ts'
import type { readNodes } from './nodes-file.ts'
import type { SharedDirectoriesDefined } from './shared-paths.ts'

export type { Outside, OutsideAnswer, OutsideRequest } from '../outside/answers.ts'

/**
 * What a user writes to have a system checked. Inferred types: `Name`, the names of the nodes; `State`, what the
 * observer returns.
 */
// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
export interface SystemDefinition<Name extends string = string, State = any> {
  readonly name: string
  /** By name, which is also the node's host name; or a function of `count`; or `fromCompose(…)`. */
  readonly nodes:
    | Readonly<Record<Name, NodeDefinition>>
    | ((count: number) => Readonly<Record<Name, NodeDefinition>>)
    | NodesFile
  /** How many nodes there are, where `nodes` is a function. */
  readonly count?: number | undefined
  /** Observes the state of a node from outside. Without it, properties can read only output and calls. */
  readonly state?: Observer<State> | undefined
  /** Calls from outside. Each begins by a choice. */
  readonly clients?: Readonly<Record<string, Client<Name> | RepeatedClient<Name>>> | undefined
  readonly properties?:
    | Readonly<Record<string, PropertyOf<GlobalState<NoInfer<State>, NoInfer<Name>>> | Property<GlobalState>>>
    | undefined
  /**
   * Where the executions of a check begin: at the end of the shortest path found to a state in which the goal holds. Of
   * several, each is looked for where the one before it was reached.
   */
  readonly goal?:
    | GoalOf<GlobalState<NoInfer<State>, NoInfer<Name>>>
    | readonly GoalOf<GlobalState<NoInfer<State>, NoInfer<Name>>>[]
    | undefined
  /** Fault budgets of one execution; 0 for faults that are not named. */
  readonly faults?: Faults<Name> | undefined
  /**
   * What nodes call and what is no node, by `HOST:PORT`: an HTTP server, with TLS on port 443 or where the key begins
   * with `https://`. Its answers are delayed, lost and reordered as a node's are.
   */
  readonly outside?: Readonly<Record<string, Outside>> | undefined
  /**
   * Names that are no node's, each with the nodes that it may mean; the first at the start. A node that looks one up is told the
   * address of the node that it means then: `{ primary: ['db1', 'db2'] }`.
   */
  readonly names?: Readonly<Record<string, readonly Name[]>> | undefined
  /**
   * Directories that several nodes have, each with its path in each of them, with `:ro` where a node only reads:
   * `{ uploads: { web: '/srv/uploads', worker: '/data:ro' } }`. They begin empty, or with what the image of the first node that is started has there.
   */
  readonly shared?: Readonly<Record<string, { readonly [Each in Name]?: string }>> | undefined
  /** How often in one execution two inputs may enter a node in the same step; 1 by default. */
  readonly overlap?: number | undefined
  /**
   * How often in one execution what a node wrote together, several frames of `messages`, may arrive in two steps; 4 by
   * default.
   */
  readonly divide?: number | undefined
  /**
   * How often in one execution the order of a node's threads may differ from first in, first out, for one step; 0 by
   * default.
   */
  readonly threads?: number | undefined
  /**
   * How far the nodes' clocks may be apart: `independent` (the default), one clock for all (`together`), or a bound on
   * the difference between any two clocks: `50ms`. Or `{ skew, start }`, to say what they show first too.
   */
  readonly clocks?: ClockSkew | Clocks | undefined
  /**
   * What disks promise of what was not synced when the power fails: `ordered` (the default), as ext4 does, or `posix`, no
   * more than POSIX. Without `faults.power`, it is what `leave NODE power` of a plan leaves.
   */
  readonly disk?: { readonly model: DiskModel } | undefined
  /**
   * The longest time that a message is in flight, by the clock of any node: a timer that would exceed it does not fire.
   * Unlimited by default, because a network may be arbitrarily slow.
   */
  readonly delay?: Duration | undefined
  /**
   * What a TCP connection holds in each direction between the kernels of its two ends, at least `1KB`; `4MB` by default. Given,
   * these kernels hold little as well, so that a writer waits, or gets EAGAIN, where its reader is slow. Not at the pace `native`.
   */
  readonly buffers?: string | undefined
  /** How likely a walk takes a choice of each kind, relative to the other kinds. */
  readonly weights?: Partial<Weights> | undefined
  /** How connections are split into messages and how messages are labelled, for all ports or by the listener's port. */
  readonly messages?: Dissector | Readonly<Record<number, Dissector>> | undefined
  /**
   * Which states count as the same: those with equal observed states (the default), those reached by the same inputs to
   * each node in the same order, or none.
   */
  readonly fingerprint?: 'observed' | 'history' | 'none' | undefined
  /** What each node may use of this machine, where the node does not say it itself. */
  readonly limits?: Limits | undefined
  /** CPU time in milliseconds after which a node that is still busy counts as diverging; 2,000 by default. */
  readonly stepLimit?: number | undefined
  /**
   * Ports on this machine's loopback that lead to ports of nodes in a run at the pace `real`: `{ 8080: 'web:80' }`.
   * What real clients send there is recorded, and sent again when the run is executed again.
   */
  readonly publish?: Readonly<Record<number, `${string}:${number}`>> | undefined
  /** How `lastnail emulate` runs the system over an emulated internet. */
  readonly emulation?: EmulationDefinition | undefined
}

declare const made: unique symbol
declare const named: unique symbol

/**
 * A property as `always`, `eventually` and `sometimes` make it. It is declared as a function, which is never called,
 * because only then TypeScript infers from a definition the type of the state that a property reads.
 */
export type PropertyOf<State> = (state: State) => { readonly [made]: true }

/** A goal as `reach` makes it; declared as a function for the same reason. */
export type GoalOf<State> = (state: State) => { readonly [named]: true }

/** States for which a search looks first. */
export interface Goal {
  readonly name: string
  readonly holds: (state: GlobalState) => boolean
}

/** A run over an emulated internet. The command's options override it. */
export interface EmulationDefinition {
  /**
   * A topology file, relative to the configuration, a topology to generate, or one itself. Without it, all nodes are
   * directly linked.
   */
  readonly topology?: string | GeneratedTopology | Topology | undefined
  /**
   * `collapsed` (the default): everything that a machine sends or receives shares the machine's own link, and between
   * them each pair has a pipe of its own. `each`: packets pass the pipe of every link on their path, and all packets
   * share it. The routers between the links then answer as `traceroute` asks them to.
   */
  readonly hops?: 'collapsed' | 'each' | undefined
  /**
   * Where nodes are placed, by name. Others are placed at random stubs. `router 17`: at that node of the topology.
   * `stub`, `transit`: at one of these. `client of AS 17`: at a stub that is linked to that node. A link to a transit
   * has no limit.
   */
  readonly place?: Readonly<Record<string, Place>> | undefined
  /** Changes of the topology's links while the system runs. Packets keep their routes. */
  readonly links?: readonly LinkEvent[] | undefined
  /**
   * Which nodes come and go: a plan or a script (files, relative to the configuration), a model, or several of these.
   */
  readonly churn?: Churn | readonly Churn[] | undefined
  /** How many of the nodes, from the first, are present at the start, or their names; all by default. */
  readonly initial?: number | readonly string[] | undefined
  /** Duration of the run; one minute by default. */
  readonly for?: Duration | undefined
  /** How often properties are evaluated; every second by default. */
  readonly look?: Duration | undefined
  /**
   * `still` (the default): during a look, no packet passes, and nodes are stopped unless they must answer, so the state
   * is consistent. `running`: nothing stops, and the combined state may never have existed.
   */
  readonly looks?: 'still' | 'running' | undefined
  /**
   * How time passes. `virtual` (the default): nodes are held, and the clock jumps to whatever is due next, so the same
   * seed gives the same run. `real`: the same, but each event waits for the real clock. `native`: nodes and the
   * kernels' TCP run freely on this machine's clock.
   */
  readonly pace?: 'virtual' | 'real' | 'native' | undefined
  /** Nodes with inaccurate clocks, by name; not at the pace `native`. */
  readonly clocks?: Readonly<Record<string, ClockSetting>> | undefined
  /** Pause of each client between its calls; a second by default. Here, `times` does not limit the calls. */
  readonly clients?: Readonly<Record<string, Duration>> | undefined
  /**
   * Series of a run made of what nodes print, by name: a row for each line that the pattern finds, with its time, the node
   * and the pattern's groups. `lookup: /lookup (?<ms>\d+) ms (?<result>ok|fail)/`
   */
  readonly measure?: Readonly<Record<string, RegExp>> | undefined
  /** Whether a node has joined, judged by its state. If given, the time to join is measured. */
  readonly joined?: ((node: NodeView) => boolean) | undefined
}

/** Changes a link at a time, in both directions. Fields that are not given stay as they are. */
export interface LinkEvent {
  readonly at: Duration
  /** A node's name, for its own link; or the two ends of a link. */
  readonly link: string | readonly [string, string]
  /** Restores the link as it was at the start, before the other fields count. */
  readonly asBefore?: boolean | undefined
  /** True: nothing passes. False: packets pass again. */
  readonly isDown?: boolean | undefined
  /** Propagation delay, ms of the run's time. */
  readonly delayMs?: number | undefined
  /** The delay varies uniformly by up to so many milliseconds, up and down. */
  readonly jitterMs?: number | undefined
  /** Bits a second, at least 1. */
  readonly bandwidth?: number | undefined
  /** Share of packets that are lost, from 0 to 1. */
  readonly loss?: number | undefined
  /** What may wait for bandwidth: so many packets or bytes, dropped as the discipline says (`droptail` by default). */
  readonly queue?:
    | { readonly packets: number; readonly discipline?: 'droptail' | 'red' | 'codel' }
    | { readonly bytes: number; readonly discipline?: 'droptail' | 'red' | 'codel' }
    | undefined
  /**
   * Traffic of others that takes bandwidth and places in the queue: bits a second in the mean (0 for none), the size of
   * each packet (1,000 bytes by default), and how many come at once (1 by default, at most 100).
   */
  readonly cross?: { readonly bandwidth: number; readonly bytes?: number; readonly burst?: number } | undefined
}

/** How a node's clock differs from an accurate one. */
export interface ClockSetting {
  /** Microseconds that it gains in a second; negative if it loses. */
  readonly driftPpm?: number | undefined
  /** Milliseconds that it is ahead at the start; negative if it is behind. */
  readonly offsetMs?: number | undefined
}

export type Place = 'stub' | 'transit' | `router ${string}` | `client of AS ${string}`

export type Duration = `${number}${'ms' | 's' | 'm' | 'h'}`

export interface GeneratedTopology {
  readonly kind: TopologyKind
  /** Number of routers and stubs; by default 5,000 for `inet` and 100 for other kinds. */
  readonly nodes?: number | undefined
  readonly seed?: number | undefined
  /** Scales all delays so that the mean round trip between stubs takes this many milliseconds. */
  readonly meanRtt?: number | undefined
  /** Traffic of others on each link: the share of its bandwidth, and packets as in `emulation.links`. */
  readonly cross?: { readonly share: number; readonly bytes?: number; readonly burst?: number } | undefined
}

/** A file, the text of a script, or a model with bounds on the population and the manners in which nodes leave (`stop` by default). */
export type Churn =
  | string
  | { readonly script: string }
  | (ChurnModel & {
      readonly atLeast?: number | undefined
      readonly atMost?: number | undefined
      readonly manners?: readonly Manner[] | undefined
      /** Nodes that are present from the start and stay. */
      readonly except?: readonly string[] | undefined
      readonly seed?: number | undefined
    })

/** Budgets by kind of fault. */
export type Faults<Name extends string = string> = Readonly<
  Partial<Record<Exclude<FaultKind, 'partition' | 'preempt' | 'reset' | 'disk'>, number | SomeFaults<Name>>> & {
    partition?: number | SomeCuts<Name>
    reset?: number | SomeResets<Name>
    disk?: number | SomeDiskFailures<Name>
  }
>

/** A fault that affects only some nodes. */
export interface SomeFaults<Name extends string = string> {
  /** How often in one execution. */
  readonly times: number
  /**
   * Names of nodes. For a message, a connection or a cut, at least one of its two ends must be among them. All nodes by
   * default.
   */
  readonly of?: readonly Name[] | undefined
}

/** Resets of connections and nodes. */
export interface SomeResets<Name extends string = string> extends SomeFaults<Name> {
  /** What is reset; both by default. A connection that is reset loses what is under way; a node starts again. */
  readonly only?: 'connections' | 'nodes' | undefined
}

/** Failures of disks. */
export interface SomeDiskFailures<Name extends string = string> extends SomeFaults<Name> {
  /**
   * What happens: a sync fails (`sync`), the disk is full (`full`), a write is short (`short`), which is the default; or, and
   * nobody is told, what was written is not there (`lost`), lies elsewhere in its file (`misdirected`), or has a bit that is
   * another one (`rotten`).
   */
  readonly only?: readonly DiskFailure['what'][] | undefined
}

/** Partitions of the network. */
export interface SomeCuts<Name extends string = string> extends SomeFaults<Name> {
  /**
   * Minimum duration: a cut is not healed before every timer has fired that is due within it, by the clock of its node.
   * By default a cut may end before anybody notices.
   */
  readonly atLeast?: Duration | undefined
}

export type { DiskModel, FaultKind, Operation, Weights }

/** Nodes described by a file, which is read when the configuration is resolved. */
export interface NodesFile {
  /** Receives the directory to which the configuration's paths are relative. Throws a ConfigError. */
  readonly [readNodes]: (directory: string) => DescribedNodes
}

/** The nodes described by a file. */
export interface DescribedNodes {
  readonly nodes: Readonly<Record<string, NodeDefinition>>
  /** As the configuration's own. */
  readonly shared?: SharedDirectoriesDefined | undefined
  /** Fields that have another meaning here or none, one line each, for the user. */
  readonly notes: readonly string[]
}

/** One process, with its children. */
export type ClockSkew = 'independent' | 'together' | `${number}ms`

export interface Clocks {
  /** How far they may be apart; `independent` by default. */
  readonly skew?: ClockSkew | undefined
  /**
   * What they show when an execution begins, in UTC: `2026-01-01`, or `2026-01-01T12:00:00Z`. By default the midnight
   * after the command began; at the pace `real`, the present.
   */
  readonly start?: string | undefined
}

export interface NodeDefinition {
  /**
   * Program and arguments. `{{n2.address}}` and `{{n2.name}}` are replaced by those of a node. With an image, it
   * replaces the image's command but not its entrypoint; without an image it is required.
   */
  readonly command?: readonly string[] | undefined
  /**
   * Variables added to PATH and HOME (those of the user who runs the tool), LANG (C.UTF-8) and PWD, or to the image's
   * variables. Nothing else of the tool's environment is passed on. The same placeholders are replaced.
   */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** A container image to run it in. */
  readonly image?: string | undefined
  /** Settings for a node with an image. */
  readonly container?: ContainerDefinition | undefined
  /**
   * Working directory, relative to the configuration's directory, which is the default. With an image, a path in it.
   */
  readonly cwd?: string | undefined
  /** Whether written files survive a reset or crash; `kept` by default. */
  readonly disk?: 'kept' | 'lost' | undefined
  /**
   * What it means if its process ends by itself. `crash` (the default): a finding, unless it exits with code 0 after
   * its start. `allowed`: it stays down. `restart`: it may be started again, as by a supervisor. `completes`: it does
   * its work and ends with code 0, and others wait for that; another end is a finding. A node whose process ends with
   * code 0 before others that it made, as a daemon's does, ends with the last of them.
   */
  readonly exits?: 'crash' | 'allowed' | 'restart' | 'completes' | undefined
  /**
   * Directories and files of this machine, relative to the configuration, to which it really writes. They persist from
   * execution to execution. Everything else that it writes goes to its own disk. Not for a node with an image.
   */
  readonly write?: readonly string[] | undefined
  /** TCP ports that must be open at the end of its start. */
  readonly listens?: number | readonly number[] | undefined
  /** A program that is run in it and must succeed at the end of its first start in an execution. */
  readonly healthy?: readonly string[] | undefined
  /** Nodes that must be ready (see `listens`, `healthy`) before it is started at the beginning of an execution. */
  readonly after?: readonly string[] | undefined
  /** Further host names. Several nodes may have the same one. */
  readonly aliases?: readonly string[] | undefined
  /** What it may use of this machine. A node that is held is meant: not one at the pace `native`. */
  readonly limits?: Limits | undefined
}

/** What a node may use of this machine. What comes of a limit that is met, is said. */
export interface Limits {
  /**
   * Memory of all its processes, what they share counted once; `2GB` by default, and for a node with an image what its
   * container may use. A node that uses more is ended.
   */
  readonly memory?: string | undefined
  /** Processes and threads; 512 by default. Further ones are refused with EAGAIN. */
  readonly processes?: number | undefined
  /** Size of its `/dev/shm`; `256MB` by default. */
  readonly shm?: string | undefined
  /** What it may write to its disk; `1GB` by default. A node that writes more is ended. */
  readonly disk?: string | undefined
}

/** How a container differs from its image, in Docker's terms. */
export interface ContainerDefinition {
  /** Replaces the image's entrypoint. */
  readonly entrypoint?: readonly string[] | undefined
  /** Name or number, `user:group`; the image's by default. */
  readonly user?: string | undefined
  /**
   * Directories or files to mount: `./seed:/data`, relative to the configuration, with `:ro` read-only; or only a path
   * in the container. What the node writes there goes to its own disk and never reaches the source.
   */
  readonly volumes?: readonly string[] | undefined
  /** Paths that are in memory and empty at each start. */
  readonly tmpfs?: readonly string[] | undefined
  /** Whether it may write only to its volumes. */
  readonly readOnly?: boolean | undefined
  /** `256m`, `1g` */
  readonly memory?: string | undefined
  /** Limit on processes and threads. */
  readonly pids?: number | undefined
  /** When the engine asks a registry for the image; `never` by default. */
  readonly pull?: 'never' | 'missing' | 'always' | undefined
  /** If the engine lacks the image, `docker build` makes it of this. */
  readonly build?: BuildDefinition | undefined
}

/** What `docker build` is given. */
export interface BuildDefinition {
  /** Directory, relative to the configuration. */
  readonly context: string
  /** Relative to the context; `Dockerfile` by default. */
  readonly dockerfile?: string | undefined
  /** The stage of the Dockerfile that is the image; the last one by default. */
  readonly target?: string | undefined
  readonly args?: Readonly<Record<string, string>> | undefined
}

/**
 * The state that properties read: a snapshot of all nodes and of all calls so far. `State`: what the observer returns
 * for a node; `Name`: the names of the nodes.
 */
// biome-ignore lint/suspicious/noExplicitAny: a state of unknown shape must be readable without casts in a property
export interface GlobalState<State = any, Name extends string = string> {
  readonly nodes: readonly NodeView<State>[]
  /** In the order in which they began. */
  readonly calls: readonly ClientCall[]
  /** Operations that clients performed in these calls, in the order of invocation. */
  readonly history: readonly Operation[]
  /** Throws for an unknown name. */
  node(name: NameOf<Name>): NodeView<State>
}

/** If `nodes` is a function or a file, the names are not known to TypeScript. */
type NameOf<Name extends string> = [Name] extends [never] ? string : Name

// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
export interface NodeView<State = any> {
  readonly name: string
  readonly alive: boolean
  /** The last observed state; `undefined` before the first one, and while the node is down. */
  readonly state: State | undefined
  /** Everything that it printed since its last start. */
  readonly output: NodeOutput
  /**
   * Earlier observed states, the latest first: `past(1)[0]` is the one before the present state. There may be fewer
   * than requested, and at most 16 can be requested. Times when it was down are not included.
   */
  past(count: number): readonly State[]
}

export interface NodeOutput {
  readonly stdout: string
  readonly stderr: string
}

/** A client's call, with its result once there is one. */
export interface ClientCall {
  readonly client: string
  /** Number of the call among those of this client, from 1. */
  readonly ordinal: number
  /** Index of the step in which it began. */
  readonly invokedAt: number
  /** Index of the step in which it ended; `undefined` while it is pending. */
  readonly completedAt: number | undefined
  /** What the client's function returned. */
  readonly value: unknown
  /** Message of the error that it threw. */
  readonly error: string | undefined
}

/**
 * A client's call, which ends with its promise. If it throws, that is its result, not an error of the configuration.
 */
export type Client<Name extends string = string> = (
  nodes: Readonly<Record<Name, NodeHandle>>,
  call: CallContext,
) => Promise<unknown>

export interface CallContext {
  /** Number of the call among those of this client, from 1. */
  readonly ordinal: number
  /** Performs an operation of the history. */
  readonly operation: Perform
}

/**
 * Performs an operation and passes on its result, which is recorded as JSON. Until it returns, and after an error other
 * than `DidNotHappen`, the operation may have happened or not.
 */
export type Perform = <Result>(asked: Asked, perform: () => Promise<Result>) => Promise<Result>

/** What a client asks for, in the terms of a model: `{ op: 'write', key: 'x', value: 1 }`. */
export type Asked = Pick<Operation, 'op' | 'key' | 'value'>

/** A call that may be made several times in one execution, each time by a choice of its own. */
export interface RepeatedClient<Name extends string = string> {
  readonly run: Client<Name>
  readonly times: number
  /**
   * `returned`: a call counts only once it has returned. One that threw, or whose last HTTP response was an error, may be
   * made again, up to 100 times in one execution.
   */
  readonly until?: 'returned' | undefined
}

/** Returns the state of a running, quiescent node. It must not change the node. */
// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
export type Observer<State = any> = (node: NodeHandle) => State | undefined | Promise<State | undefined>

/** A node as a client or observer uses it. Its connections come from a host of the harness and are never held. */
export interface NodeHandle {
  readonly name: string
  readonly address: string
  /** An HTTP request; the path begins with a slash. */
  http(port: number, path: string, init?: HttpInit): Promise<Dispatcher.ResponseData>
  /** A connection. If it is refused, it emits `error` with code `ECONNREFUSED`. */
  tcp(port: number): Duplex
  /**
   * The same for client libraries: it has the methods of `net.Socket` that these call on a stream of their user, and is
   * connecting already.
   */
  socket(port: number): ClientSocket
  /** Sends a datagram and resolves with the first one that comes back, which may never happen. */
  udp(port: number, data: string | Uint8Array): Promise<Buffer>
  /**
   * Runs a program inside the node: in its namespaces and working directory, as the present user of its first process,
   * with that process's privileges and limits and its initial environment.
   */
  exec(command: readonly string[]): Promise<ExecResult>
  output(): NodeOutput
  /**
   * Content of a file, relative to the node's working directory. Rejects with the file system's error. Links are
   * followed as the node would follow them.
   */
  file(path: string): Promise<Buffer>
}

/** What client libraries need of a stream that they are given. Timeouts and keep-alive, which a call has no use for, do nothing. */
export type ClientSocket = Duplex &
  Pick<Socket, 'connecting' | 'setNoDelay' | 'setKeepAlive' | 'setTimeout' | 'ref' | 'unref' | 'connect'>

/** `GET` by default. */
export type HttpInit = Partial<Pick<Dispatcher.RequestOptions, 'method' | 'headers' | 'query' | 'body'>>

export interface ExecResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}
