import { getCallBorder } from '../../../linux/ptrace.ts'
import { argumentsOf, digest, essential, given, gives } from './call-content.ts'
import type { HeldThread } from './held-node.ts'
import { interruptedResults } from './interrupted.ts'

/** One system call of a thread, as the program sees it. */
export interface CallRecord {
  /** Position among all calls of all nodes, in the order in which they ended. */
  readonly sequence: number
  /** Undefined if recording began at its end, as for a new thread. */
  readonly number: number | undefined
  /** Arguments that the call uses. */
  readonly args: readonly number[]
  /** Negative errno if it failed. */
  readonly result: number
  /** Digests of the memory that the call read, and of what it wrote there. */
  readonly given: string
  readonly gives: string
  /** Digest of what it wrote, without fields that few programs read. */
  readonly essential: string
  /** The stack at the call, from the top. */
  readonly stack: Buffer
}

/** A thread of a node, numbered from 0 among all threads that the node ever had. */
export interface ThreadKey {
  readonly node: string
  readonly thread: number
}

interface Entered {
  readonly number: number
  readonly args: readonly number[]
  readonly given: string
  readonly stack: Buffer
}

/** The calls of one step, by node and thread. */
export type StepCalls = ReadonlyMap<string, readonly CallRecord[]>

const threadKeyOf = ({ node, thread }: ThreadKey): string => `${node} ${thread}`
export const fromKey = (key: string): ThreadKey => {
  const [node, thread] = key.split(' ')
  return { node: node!, thread: Number(thread) }
}

const stackLength = 512

/**
 * Records every system call of every held thread. Each costs two stops, some 50 µs. While a thread waits at its stops
 * others continue, so the order between threads differs from that of unrecorded executions. Recorded executions must be
 * compared only with each other.
 */
export class CallRecorder {
  /** By step; 0 is the start. */
  readonly steps: Map<string, CallRecord[]>[] = [new Map()]
  readonly #entered = new WeakMap<HeldThread, Entered>()
  #count = 0

  /** Later calls belong to the next step. */
  nextStep(): void {
    this.steps.push(new Map())
  }

  /**
   * Called for a thread that is stopped at the border of a call; at an entry, before anything is done with it.
   *
   * @returns whether it is an entry
   */
  atEntry(thread: HeldThread): boolean {
    const border = getCallBorder(thread.tid)
    if (border?.at !== 'entry') return false
    const { memory } = thread.process
    const args = border.args.slice(0, argumentsOf(border.number))
    this.#entered.set(thread, {
      number: border.number,
      args,
      given: digest(given(memory, border.number, border.args)),
      stack: stackAt(thread, border.stackPointer),
    })
    return true
  }

  /** Records the exit of a call, after the result was changed to what the program sees. */
  atExit(thread: HeldThread): void {
    const border = getCallBorder(thread.tid)
    const entered = this.#entered.get(thread)
    if (border?.at !== 'exit') return
    this.#entered.delete(thread)
    // The tool interrupted the call. It will be entered again, and the program sees nothing of that.
    if (interruptedResults.has(border.result) && border.result !== -4) return
    const args = entered?.args ?? []
    this.#add(thread, {
      sequence: this.#count++,
      number: entered?.number,
      args,
      result: border.result,
      given: entered?.given ?? '',
      ...(entered ? givenBack(thread, entered, border.result) : { gives: '', essential: '' }),
      stack: entered?.stack ?? stackAt(thread, border.stackPointer),
    })
  }

  #add(thread: HeldThread, record: CallRecord): void {
    const step = this.steps.at(-1)!
    const key = threadKeyOf({ node: thread.process.node.name, thread: thread.ordinal })
    const calls = step.get(key)
    if (calls) calls.push(record)
    else step.set(key, [record])
  }
}

const givenBack = ({ process }: HeldThread, { number, args }: Entered, result: number) => {
  const bytes = gives(process.memory, number, args, result)
  return { gives: digest(bytes), essential: digest(essential(number, bytes)) }
}

const stackAt = ({ process }: HeldThread, address: number): Buffer => {
  try {
    return process.memory.read(address, stackLength)
  } catch {
    return Buffer.alloc(0)
  }
}
