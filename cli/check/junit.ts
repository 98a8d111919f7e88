import { create } from 'xmlbuilder'
import { writeWhole } from '../../checker/system/written.ts'
import type { Verdict } from '../../checker/verdict/verdict.ts'
import { replayCommand } from '../../report/model/again.ts'
import { numberedSteps } from './describe.ts'

/** The result of checking some properties. */
export interface CheckedProperties {
  readonly system: string
  readonly properties: readonly string[]
  /** Whether crashes and divergences were looked for too. */
  readonly all: boolean
  readonly verdict: Verdict
  readonly trace: string | null
}

/** Name of the test case for crashes and divergences. */
const alive = 'no crash, no divergence'

/**
 * Writes a JUnit file with a case for each property. A violated property has failed. If the verdict is undetermined,
 * the properties concerned have an error.
 *
 * @throws NotWritten
 */
export const writeJunit = (path: string, checked: CheckedProperties): void => {
  writeWhole('the JUnit file', path, junitOf(checked))
}

const junitOf = ({ system, properties, all, verdict, trace }: CheckedProperties): string => {
  const isFinding = verdict.kind === 'crash' || verdict.kind === 'divergence'
  const names = [...(all || isFinding ? [alive] : []), ...properties]
  const wrong = names.filter(name => isAbout(name, verdict))
  const isViolated = verdict.verdict === 'violated'
  const counts = {
    '@tests': names.length,
    '@failures': isViolated ? wrong.length : 0,
    '@errors': isViolated ? 0 : wrong.length,
  }
  const steps = [...numberedSteps(verdict.schedule), ...(trace ? [`again: ${replayCommand(trace)}`] : [])].join('\n')
  const problem = { '@message': verdict.message, '@type': verdict.kind ?? 'undetermined', '#text': steps }
  const cases = names.map(name => ({
    ...{ '@name': name, '@classname': system },
    ...(wrong.includes(name) && { [isViolated ? 'failure' : 'error']: problem }),
  }))
  const suite = { '@name': system, '@time': verdict.seconds, ...counts, testcase: cases }
  return create({ testsuites: { '@name': 'lastnail', ...counts, testsuite: suite } }).end({ pretty: true })
}

/** Whether a verdict other than `held` concerns a property. */
const isAbout = (name: string, { verdict, property, kind }: Verdict): boolean => {
  if (verdict === 'held') return false
  if (property !== null) return name === property
  return kind === null || name === alive
}
