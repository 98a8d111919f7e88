import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The files that take longest, the longest first (`test/summary.ts` prints them at each run). Vitest begins with the largest
 * files where it knows no times, so the two that execute the documentation came last, and the other worker idled for a minute.
 */
const longest = [
  'docs/pages',
  'docker/image',
  'docs/tutorial',
  'cli/emulate/steer-ahead',
  'cli/check/unrepeatable',
  'cli/check/busy',
  'examples/etcd',
  'harness/execution/marks',
  'cli/check/guests',
  'cli/emulate/predict',
  'checker/soundness/real',
  'services/held',
  'report/page',
  'corpus/bench',
  'campaign/queue',
].map(name => `test/${name}.test.ts`)

/** Begins with the longest files, because a file is never divided between workers. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    for (const name of longest) if (!existsSync(name)) throw new Error(`test/longest-first.ts: no file ${name}`)
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification) => {
      const index = longest.indexOf(relative('', moduleId))
      return index === -1 ? longest.length : index
    }
    return sorted.toSorted((one, other) => rank(one) - rank(other))
  }
}
