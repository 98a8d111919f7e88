import type { Duplex } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Weights } from '../../checker/choosers/weights.ts'
import type { Operation } from '../../checker/history/operation.ts'
import type { Property } from '../../checker/property.ts'
import type { Dissector } from '../../proxy/dissector.ts'
import type { ChurnModel } from '../../topologies/churn/model.ts'
import type { Manner } from '../../topologies/churn/plan.ts'
import type { TopologyKind } from '../../topologies/generate.ts'
import type { readNodes } from './nodes-file.ts'

/** What a user writes to have a system checked. Inferred: `Name`, the names of the nodes; `State`, what the observer sees. */
// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
export interface SystemDefinition<Name extends string = string, State = any> {
  readonly name: string
  /** By name, which is also the node's host name; a function where their number is `count`; or `fromCompose(…)`. */
  readonly nodes:
    | Readonly<Record<Name, NodeDefinition>>
    | ((count: number) => Readonly<Record<Name, NodeDefinition>>)
    | NodesFile
  /** How many nodes there are, where `nodes` is a function. */
  readonly count?: number | undefined
  /** How the state of a node is seen from outside; without it properties read only output and calls. */
  readonly state?: Observer<State> | undefined
  /** Calls from outside, each of them begun by a choice. */
  readonly clients?: Readonly<Record<string, Client<Name> | RepeatedClient<Name>>> | undefined
  readonly properties?:
    | Readonly<Record<string, PropertyOf<GlobalState<NoInfer<State>, NoInfer<Name>>> | Property<GlobalState>>>
    | undefined
  /** Where executions of a check begin: at the end of the shortest way that is found to a state in which it holds. */
  readonly goal?: GoalOf<GlobalState<NoInfer<State>, NoInfer<Name>>> | undefined
  /** Budgets for one execution; 0 for what is not named. */
  readonly faults?: Faults<Name> | undefined
  /** How often in one execution two inputs may enter a node in one step; 1 by default. */
  readonly overlap?: number | undefined
  /** `independent` (the default), one clock for all, or a bound on how far any two may be apart: `50ms`. */
  readonly clocks?: 'independent' | 'together' | `${number}ms` | undefined
  /**
   * The longest that a message is on its way, by the clock of any node: no timer fires that would make it longer. Any time
   * by default: a network may be as slow as that.
   */
  readonly delay?: Duration | undefined
  /** How likely a walk takes a choice of a kind, relative to the others. */
  readonly weights?: Partial<Weights> | undefined
  /** How messages are cut out of connections and labelled, for all ports or by the listener's port. */
  readonly messages?: Dissector | Readonly<Record<number, Dissector>> | undefined
  /**
   * Which states count as the same: those with equal observed states (the default), those reached by equal inputs in
   * equal order to each node, or none.
   */
  readonly fingerprint?: 'observed' | 'history' | 'none' | undefined
  /** CPU time in milliseconds after which a node that is still busy counts as divergent; 2,000 by default. */
  readonly stepLimit?: number | undefined
  /**
   * Ports of this machine's loopback that lead to ports of nodes in a run at the pace `real`: `{ 8080: 'web:80' }`. What real
   * clients send there is recorded, and is sent again when the run is executed again.
   */
  readonly publish?: Readonly<Record<number, `${string}:${number}`>> | undefined
  /** How it runs over an emulated internet, by `lastnail emulate`. */
  readonly emulation?: EmulationDefinition | undefined
}

declare const made: unique symbol
declare const named: unique symbol

/**
 * A property as `always`, `eventually` and `sometimes` make it. TypeScript infers from a definition what states a property in it reads
 * only where its type is a function's, so that is what it is declared as; nothing calls it.
 */
export type PropertyOf<State> = (state: State) => { readonly [made]: true }

/** What `reach` makes; declared as a function for the same reason. */
export type GoalOf<State> = (state: State) => { readonly [named]: true }

/** States that are searched for first. */
export interface Goal {
  readonly name: string
  readonly holds: (state: GlobalState) => boolean
}

/** A run over an emulated internet. What the command's options say counts before it. */
export interface EmulationDefinition {
  /** A file of a topology, relative to the configuration, or one to be generated; all nodes side by side where absent. */
  readonly topology?: string | GeneratedTopology | undefined
  /**
   * `collapsed` (the default): a machine's own link is shared by all that it sends, or receives; what is between is a pipe of
   * its own for each pair. `each`: packets pass the pipe of every link on their way, which all share.
   */
  readonly hops?: 'collapsed' | 'each' | undefined
  /**
   * Where nodes are, by name; others are at stubs that are drawn. `router 17`: at that node of the topology. `stub`, `transit`: at
   * one of these. `client of AS 17`: at a stub that is linked to that node. A link to a transit has no limit.
   */
  readonly place?: Readonly<Record<string, Place>> | undefined
  /** Who comes and goes: a plan or a script (files, relative to the configuration), a model, or several of these. */
  readonly churn?: Churn | readonly Churn[] | undefined
  /** So many nodes, the first, are there from the start; all by default. */
  readonly initial?: number | undefined
  /** One minute by default. */
  readonly for?: Duration | undefined
  /** How often properties are evaluated; every second by default. */
  readonly look?: Duration | undefined
  /**
   * `still` (the default): meanwhile no packet passes and nodes are stopped, but for those that have to answer, so that the
   * state seen is a consistent one. `running`: nothing waits, and the state seen may never have been.
   */
  readonly looks?: 'still' | 'running' | undefined
  /**
   * How time passes. `virtual` (the default): nodes are held, and the clock jumps to what is due next, so the same seed gives
   * the same run. `real`: the same, and the clock waits until it is due. `native`: nodes and the kernels' TCP run by
   * themselves on this machine's clock.
   */
  readonly pace?: 'virtual' | 'real' | 'native' | undefined
  /** Nodes whose clocks go otherwise, by name; not at the pace `native`. */
  readonly clocks?: Readonly<Record<string, ClockSetting>> | undefined
  /** How long each client pauses between its calls, a second by default. Here `times` does not limit them. */
  readonly clients?: Readonly<Record<string, Duration>> | undefined
  /** Whether a node has become a member, by what is seen of it: then the time that joining takes is measured. */
  readonly joined?: ((node: NodeView) => boolean) | undefined
}

/** How a node's clock differs from a good one. */
export interface ClockSetting {
  /** Seconds that it gains in a million; it loses, where negative. */
  readonly driftPpm?: number | undefined
  /** What it is ahead at the start, in milliseconds; behind, where negative. */
  readonly offsetMs?: number | undefined
}

export type Place = 'stub' | 'transit' | `router ${string}` | `client of AS ${string}`

export type Duration = `${number}${'ms' | 's' | 'm' | 'h'}`

export interface GeneratedTopology {
  readonly kind: TopologyKind
  /** Routers and stubs; 5,000 for `inet` by default, 100 for others. */
  readonly nodes?: number | undefined
  readonly seed?: number | undefined
  /** All delays are scaled so that the mean round trip between stubs is so many milliseconds. */
  readonly meanRtt?: number | undefined
}

/** A file, or a model with the bounds of the population and the manners in which nodes leave (`stop` by default). */
export type Churn =
  | string
  | (ChurnModel & {
      readonly atLeast?: number | undefined
      readonly atMost?: number | undefined
      readonly manners?: readonly Manner[] | undefined
      /** Nodes that are there from the start, and stay. */
      readonly except?: readonly string[] | undefined
      readonly seed?: number | undefined
    })

/** Budgets by kind of fault. */
export type Faults<Name extends string = string> = Readonly<
  Partial<Record<Exclude<FaultKind, 'partition'>, number | SomeFaults<Name>>> & {
    partition?: number | SomeCuts<Name>
  }
>

/** Faults that befall some nodes alone. */
export interface SomeFaults<Name extends string = string> {
  /** In one execution. */
  readonly times: number
  /** Names of nodes. Of a message, a connection or a cut, one of its two ends must be among them. All by default. */
  readonly of?: readonly Name[] | undefined
}

/** Cuts of the network. */
export interface SomeCuts<Name extends string = string> extends SomeFaults<Name> {
  /**
   * How long each lasts: it is not healed before every timer has fired that is due within that, by the clock of its node.
   * By default a cut may be over before anybody notices.
   */
  readonly atLeast?: Duration | undefined
}

export type { Operation, Weights }

export type FaultKind = 'drop' | 'duplicate' | 'reset' | 'crash' | 'partition'

/** Nodes that a file describes: it is read when the configuration is resolved. */
export interface NodesFile {
  /** Of the directory that paths of the configuration are relative to; throws a ConfigError. */
  readonly [readNodes]: (directory: string) => DescribedNodes
}

/** What a file says of nodes. */
export interface DescribedNodes {
  readonly nodes: Readonly<Record<string, NodeDefinition>>
  /** What of it has another meaning here, or none: a line each, for the user. */
  readonly notes: readonly string[]
}

/** One process, with its children. */
export interface NodeDefinition {
  /**
   * Program and arguments; `{{n2.address}}` and `{{n2.name}}` stand for those of a node. With an image, in place of the
   * image's own command, whose entrypoint stays; needed without one.
   */
  readonly command?: readonly string[] | undefined
  /**
   * Added to PATH and HOME, which are those of whoever runs the tool, LANG, which is C.UTF-8, and PWD; or to the image's.
   * Nothing else of the tool's own environment gets there. The same placeholders may be used.
   */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** A container image to run it in. */
  readonly image?: string | undefined
  /** What only a node with an image has. */
  readonly container?: ContainerDefinition | undefined
  /** Working directory, relative to the configuration's; that by default. In an image, as the image has it. */
  readonly cwd?: string | undefined
  /** Whether what it wrote is still there when it starts again after a reset or a crash; `kept` by default. */
  readonly disk?: 'kept' | 'lost' | undefined
  /**
   * What it means that its process ends by itself: `crash` (the default), a finding, unless it ends with code 0 once it
   * has started; `allowed`, it stays down; `restart`, it can be started again, as by a supervisor.
   */
  readonly exits?: 'crash' | 'allowed' | 'restart' | undefined
  /**
   * Directories and files of this machine, relative to the configuration, that it writes to itself: what it writes
   * anywhere else goes to its disk, and not to this machine. It stays there from execution to execution. Without an image.
   */
  readonly write?: readonly string[] | undefined
  /** TCP ports that it must have opened when its start is over. */
  readonly listens?: number | readonly number[] | undefined
  /** A program that is run in it, and succeeds when its first start in an execution is over. */
  readonly healthy?: readonly string[] | undefined
  /** Further host names; several nodes may have the same. */
  readonly aliases?: readonly string[] | undefined
}

/** How a container differs from what its image says; the words are Docker's. */
export interface ContainerDefinition {
  /** In place of the image's. */
  readonly entrypoint?: readonly string[] | undefined
  /** Name or number, `user:group`; the image's by default. */
  readonly user?: string | undefined
  /**
   * Directories or files to mount: `./seed:/data`, relative to the configuration, with `:ro` read-only; or a path in the
   * container alone. What is written there belongs to the node's disk, as all that it writes: it never reaches the source.
   */
  readonly volumes?: readonly string[] | undefined
  /** Paths that are in memory, and empty at each start. */
  readonly tmpfs?: readonly string[] | undefined
  /** Whether it can write to its volumes alone. */
  readonly readOnly?: boolean | undefined
  /** `256m`, `1g` */
  readonly memory?: string | undefined
  /** Processes and threads, at most. */
  readonly pids?: number | undefined
  /** When the engine asks a registry for the image; `never` by default. */
  readonly pull?: 'never' | 'missing' | 'always' | undefined
}

/**
 * What the properties read: a snapshot of all nodes and of all calls so far. `State`: what the observer sees of a node;
 * `Name`: the names of the nodes.
 */
// biome-ignore lint/suspicious/noExplicitAny: a state of unknown shape must be readable without casts in a property
export interface GlobalState<State = any, Name extends string = string> {
  readonly nodes: readonly NodeView<State>[]
  /** In the order in which they were invoked. */
  readonly calls: readonly ClientCall[]
  /** What clients performed in these calls, in the order in which it was invoked. */
  readonly history: readonly Operation[]
  /** Throws for a name that no node has. */
  node(name: NameOf<Name>): NodeView<State>
}

/** Where `nodes` is a function or a file, nobody knows the names before it is read. */
type NameOf<Name extends string> = [Name] extends [never] ? string : Name

// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
export interface NodeView<State = any> {
  readonly name: string
  readonly alive: boolean
  /** What the observer saw last; `undefined` before that, and while the node is down. */
  readonly state: State | undefined
  /** All that it wrote since it was last started. */
  readonly output: NodeOutput
  /**
   * Other states that it was seen in before, the latest first: `past(1)[0]` is the one before the last that was seen. Fewer
   * than asked for where there were not so many; 16 at most can be asked for. What it was while it was down is none.
   */
  past(count: number): readonly State[]
}

export interface NodeOutput {
  readonly stdout: string
  readonly stderr: string
}

/** A client's call with its result, as far as there is one. */
export interface ClientCall {
  readonly client: string
  /** The n-th call of this client, from 1. */
  readonly ordinal: number
  /** Index of the step. */
  readonly invokedAt: number
  /** Index of the step; `undefined` while it is pending. */
  readonly completedAt: number | undefined
  /** What the client's function returned. */
  readonly value: unknown
  /** Message of what it threw. */
  readonly error: string | undefined
}

/** A call: it ends when the promise does. What it throws is its result too, not an error of the configuration. */
export type Client<Name extends string = string> = (
  nodes: Readonly<Record<Name, NodeHandle>>,
  call: CallContext,
) => Promise<unknown>

export interface CallContext {
  /** The n-th call of this client, from 1. */
  readonly ordinal: number
  /** Performs an operation of the history. */
  readonly operation: Perform
}

/**
 * Performs what was asked for, and passes on what comes of it: that is the operation's result, as JSON. While it has not
 * returned, and after an error other than `DidNotHappen`, it may have happened or not.
 */
export type Perform = <Result>(asked: Asked, perform: () => Promise<Result>) => Promise<Result>

/** What a client asks for, in the words of a model: `{ op: 'write', key: 'x', value: 1 }`. */
export type Asked = Pick<Operation, 'op' | 'key' | 'value'>

/** A call that may be made several times in one execution, each time by a choice of its own. */
export interface RepeatedClient<Name extends string = string> {
  readonly run: Client<Name>
  readonly times: number
}

/** Sees the state of a node that is up and quiescent. It must not change it. */
// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
export type Observer<State = any> = (node: NodeHandle) => State | undefined | Promise<State | undefined>

/** A node, for a client or an observer. Connections come from a host of the harness's own and are never held. */
export interface NodeHandle {
  readonly name: string
  readonly address: string
  /** An HTTP request; the path begins with a slash. */
  http(port: number, path: string, init?: HttpInit): Promise<Dispatcher.ResponseData>
  /** A connection; a refused one is an `error` event with code `ECONNREFUSED`. */
  tcp(port: number): Duplex
  /** Sends a datagram; resolves with the first that comes back, which may be never. */
  udp(port: number, data: string | Uint8Array): Promise<Buffer>
  /**
   * Runs a program inside the node: in its namespaces and its working directory, as the user that its first process is
   * then, with what that may do, with its limits and the environment that it was started with.
   */
  exec(command: readonly string[]): Promise<ExecResult>
  output(): NodeOutput
  /**
   * Content of a file, relative to the node's working directory; rejects with the error of the file system. Links lead
   * where they lead the node.
   */
  file(path: string): Promise<Buffer>
}

/** `GET` by default. */
export type HttpInit = Partial<Pick<Dispatcher.RequestOptions, 'method' | 'headers' | 'query' | 'body'>>

export interface ExecResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}
