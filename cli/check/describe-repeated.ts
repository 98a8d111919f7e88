import { counted } from '../../checker/system/brief.ts'
import type { DescribedCall } from '../../harness/execution/first-difference.ts'
import type { RepeatOutcome } from '../traces/repeat.ts'
import type { Difference } from '../traces/repetition.ts'
import type { Explanation } from './explain.ts'

export const describeRepeated = ({ times, same, steps, seed, differs }: RepeatOutcome): string[] => [
  `${same} of ${counted(times, 'execution')} of ${counted(steps, 'step')} are the same (seed ${seed})`,
  ...(differs ? describeDifference(differs) : []),
]

/** Why a check is in doubt, as lines for a person. */
export const describeExplanation = ({ times, same, steps, inPlace, differs }: Explanation): string[] => {
  const where = inPlace ? 'with rewound processes' : 'with new processes'
  return [
    `executed again ${where}, ${same} of ${counted(times, 'execution')} of its ${counted(steps, 'step')} are the same`,
    ...(differs ? [...describeDifference(differs), ...remediesFor(differs)] : []),
  ]
}

/** The remedy. */
const remediesFor = ({ call }: Difference): string[] =>
  call === null
    ? ['remedy: give it fewer threads, for example by GOMAXPROCS=1, UV_THREADPOOL_SIZE=1 or -XX:ActiveProcessorCount=1']
    : []

const describeDifference = ({ step, label, seen, node, thread, call, was, is, recorded }: Difference): string[] => {
  const place = step === 0 ? 'at the start' : `at step ${step} (${label})`
  if (call === null)
    return [
      `differs ${place}: ${seen}`,
      `no system call differed in ${recorded} executions with recorded calls, because recording changes the order of threads`,
    ]
  return [
    `differs ${place}, first in node ${node}, thread ${thread}, call ${call}`,
    `what was seen of it: ${seen}`,
    ...describeCall('first execution', was),
    ...describeCall('other execution', is),
  ]
}

const describeCall = (which: string, call: DescribedCall | null): string[] => [
  `${which}: ${call?.text ?? 'no such call in this step'}`,
  ...(call?.stack ?? []).map(place => `    ${place}`),
]
