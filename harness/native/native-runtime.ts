import type { NetworkNamespace } from '../../linux/namespace.ts'
import type { Output } from '../files/output.ts'
import type { NodePlan } from '../node/runtime.ts'
import type { Ending } from './ending.ts'

/** How much of the end of a node's output properties and observers can read. */
export const outputLengthMax = 1 << 20

/** How the lives of a node that runs in real time are made: as processes of this machine, or in containers. */
export interface NativeRuntime {
  /** Base of the node's relative paths. */
  readonly workingDirectory: string
  /** The node's network, which stays while its lives come and go. */
  readonly namespace: NetworkNamespace
  /** Begins a life. The one before has ended. */
  begin(): Promise<NativeLife>
  /** Frees everything. No life may be left. */
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
  /** Settles when it has ended, if no signal reports that to this process. */
  readonly ended?: Promise<void>
  /** Asks its program to end. */
  stop(): void
  /** How it ended; undefined while it runs. */
  ending(): Ending | undefined
  /** Closes its files, after it has ended. */
  leave(): void
}

/** Runs images in real time. Whoever makes the cluster makes and closes it. */
export interface NativeEngine {
  nativeRuntime(plan: NodePlan): Promise<NativeRuntime>
}
