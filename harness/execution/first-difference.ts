import type { Region } from '../../linux/memory.ts'
import { syscallName } from '../../linux/syscall-number.ts'
import { argumentsOf } from '../hold/held/call-content.ts'
import { type CallRecord, fromKey, type StepCalls, type ThreadKey } from '../hold/held/call-recorder.ts'

/** The system calls of an execution. */
export interface RecordedCalls {
  /** By step; 0 is the start. */
  readonly steps: readonly StepCalls[]
  /** Memory mappings of each node's first process at the end. */
  readonly regions: ReadonlyMap<string, readonly Region[]>
}

/** The first system call in which two executions of the same schedule differ. */
export interface CallDifference extends ThreadKey {
  /** Counted from 1; 0 is the start. */
  readonly step: number
  /** Name of the call, or its number. */
  readonly call: string
  /** The call in the first execution and in the other; undefined if the thread made no more calls in that step. */
  readonly was: DescribedCall | undefined
  readonly is: DescribedCall | undefined
}

export interface DescribedCall {
  /** `read(7, …, 4096) = 114 "…"` */
  readonly text: string
  /** Code addresses found on the stack, the innermost first. Some may be left from earlier calls. */
  readonly stack: readonly string[]
}

/**
 * The first difference between two executions of one schedule: in the first step with a difference, the thread whose
 * first differing call came earliest in the first execution. Undefined if all calls of all steps are equal.
 *
 * @param from the first step to compare: a rewound life makes other calls in its start than a new one
 */
export const firstDifference = (one: RecordedCalls, other: RecordedCalls, from = 0): CallDifference | undefined =>
  firstBy(isSame, one, other, from)

/**
 * The same for what few programs look at, such as the device of a file. New processes almost always differ in it, so it
 * explains an execution only if nothing else does.
 */
export const incidentalDifference = (one: RecordedCalls, other: RecordedCalls, from = 0): CallDifference | undefined =>
  firstBy((a, b) => isSame(a, b) && a.gives === b.gives, one, other, from)

type Same = (one: CallRecord, other: CallRecord) => boolean

const firstBy = (areSame: Same, one: RecordedCalls, other: RecordedCalls, from: number): CallDifference | undefined => {
  for (let step = from; step < Math.max(one.steps.length, other.steps.length); step++) {
    const found = inStep(areSame, one.steps[step] ?? new Map(), other.steps[step] ?? new Map())
    if (found) return describe(found, step, one, other)
  }
  return undefined
}

interface Found {
  readonly key: string
  readonly was: CallRecord | undefined
  readonly is: CallRecord | undefined
}

const inStep = (areSame: Same, one: StepCalls, other: StepCalls): Found | undefined => {
  const keys = [...new Set([...one.keys(), ...other.keys()])]
  const found = keys.flatMap(key => inThread(areSame, key, one.get(key) ?? [], other.get(key) ?? []) ?? [])
  const sequenceOf = ({ was, is }: Found) => was?.sequence ?? is?.sequence ?? Number.POSITIVE_INFINITY
  return found.sort((a, b) => sequenceOf(a) - sequenceOf(b))[0]
}

const inThread = (
  areSame: Same,
  key: string,
  one: readonly CallRecord[],
  other: readonly CallRecord[],
): Found | undefined => {
  for (let index = 0; index < Math.max(one.length, other.length); index++) {
    const [was, is] = [one[index], other[index]]
    if (was === undefined || is === undefined || !areSame(was, is)) return { key, was, is }
  }
  return undefined
}

const isSame = (one: CallRecord, other: CallRecord): boolean =>
  one.number === other.number &&
  one.result === other.result &&
  one.given === other.given &&
  one.essential === other.essential &&
  one.args.every((value, index) => value === other.args[index])

const describe = ({ key, was, is }: Found, step: number, one: RecordedCalls, other: RecordedCalls): CallDifference => {
  const thread = fromKey(key)
  return {
    step,
    ...thread,
    call: nameOf(was ?? is!),
    was: was && describeCall(was, one.regions.get(thread.node) ?? []),
    is: is && describeCall(is, other.regions.get(thread.node) ?? []),
  }
}

const nameOf = ({ number }: CallRecord): string =>
  number === undefined ? 'first return' : (syscallName(number) ?? `system call ${number}`)

/** Values above this are shown as addresses. */
const smallMax = 1 << 20

const describeCall = (record: CallRecord, regions: readonly Region[]): DescribedCall => {
  const { number, args, result, given, gives, stack } = record
  const shown = args.slice(0, number === undefined ? 0 : argumentsOf(number)).map(show)
  const contents = [given && `given ${given}`, gives && `got ${gives}`].filter(Boolean).join(', ')
  return {
    text: `${nameOf(record)}(${shown.join(', ')}) = ${show(result)}${contents && ` ${contents}`}`,
    stack: placesOn(stack, regions),
  }
}

const show = (value: number): string =>
  Math.abs(value) < smallMax ? String(value) : `0x${(value < 0 ? value + 2 ** 64 : value).toString(16)}`

/** Addresses of code that are shown of a stack, at most. */
const placesMax = 12

const placesOn = (stack: Buffer, regions: readonly Region[]): string[] => {
  const places: string[] = []
  for (let at = 0; at + 8 <= stack.length && places.length < placesMax; at += 8) {
    const address = Number(stack.readBigUInt64LE(at))
    const region = regions.find(({ start, end, access }) => access[2] === 'x' && start <= address && address < end)
    if (region)
      places.push(`${region.path || 'code without a file'}+0x${(address - region.start + region.offset).toString(16)}`)
  }
  return places
}
