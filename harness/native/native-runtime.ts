import type { NetworkNamespace } from '../../proxy/namespace.ts'
import type { Output } from '../files/output.ts'
import type { NodePlan } from '../node/runtime.ts'
import type { Ending } from './ending.ts'

/** What properties and observers can read of a node's output, from the end. */
export const outputLengthMax = 1 << 20

/** How the lives of one node that runs in real time come about: as processes of this machine, or in containers. */
export interface NativeRuntime {
  /** Where the node's relative paths begin. */
  readonly workingDirectory: string
  /** The node's network, which stays while its lives come and go. */
  readonly namespace: NetworkNamespace
  /** Begins a life. The one before has ended. */
  begin(): Promise<NativeLife>
  /** Lets go of all. No life is left. */
  close(): void
}

/** From the start of a node's program to its end. */
export interface NativeLife {
  /** Of the first process in its pid namespace, on this machine. */
  readonly pid: number
  /** Descriptor of the root of its files. */
  readonly root: number
  /** Of its program. */
  readonly environment: Readonly<Record<string, string>>
  readonly stdout: Output
  readonly stderr: Output
  /** Settles when it has ended, where no signal tells this process so. */
  readonly ended?: Promise<void>
  /** Asks its program to end. */
  stop(): void
  /** Undefined while it runs. */
  ending(): Ending | undefined
  /** Lets go of its files. It has ended. */
  leave(): void
}

/** Runs images in real time: made, and closed, by whoever makes the cluster. */
export interface NativeEngine {
  nativeRuntime(plan: NodePlan): Promise<NativeRuntime>
}
