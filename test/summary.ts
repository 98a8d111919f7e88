import { relative } from 'node:path'
import type { Reporter, TestModule, Vitest } from 'vitest/node'

const longestMax = 10

/** What the machine lacks for a test that was skipped: its title says so, or the test itself. */
const lackOf = (fullName: string, note: string | undefined): string =>
  note ?? /\(needs ([^()]*(?:\([^()]*\))?[^()]*)\)/.exec(fullName)?.[1] ?? 'something that its title does not say'

/**
 * At the end of a run: how many tests were skipped for which lack of the machine, which ones passed only when they were
 * run again, and which files took longest.
 */
export default class Summary implements Reporter {
  /** Whether tests are left out because somebody named others. */
  #isPart = false

  onInit({ config }: Vitest): void {
    this.#isPart = config.testNamePattern !== undefined
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (!this.#isPart) tellSkipped(modules)
    tellPassedAgain(modules)
    const longest = [...modules].sort((one, other) => other.diagnostic().duration - one.diagnostic().duration)
    if (modules.length <= longestMax) return
    console.log('the longest files:')
    for (const module of longest.slice(0, longestMax))
      console.log(`${(module.diagnostic().duration / 1000).toFixed(1).padStart(8)} s  ${relative('', module.moduleId)}`)
  }
}

const tellSkipped = (modules: readonly TestModule[]): void => {
  const skipped = new Map<string, number>()
  for (const module of modules)
    for (const test of module.children.allTests('skipped')) {
      const result = test.result()
      const lack = lackOf(test.fullName, result.state === 'skipped' ? result.note : undefined)
      skipped.set(lack, (skipped.get(lack) ?? 0) + 1)
    }
  for (const [lack, count] of skipped) console.log(`skipped: ${count}, for the machine lacks: ${lack}`)
}

/** Each of these is a defect of the test or of the tool, although it does not fail the run. */
const tellPassedAgain = (modules: readonly TestModule[]): void => {
  for (const module of modules)
    for (const test of module.children.allTests('passed')) {
      if (!test.diagnostic()?.flaky) continue
      console.log(`failed, then passed: ${relative('', module.moduleId)} > ${test.fullName}`)
      for (const { message, diff } of test.result().errors ?? []) console.log(`${message}\n${diff ?? ''}`)
    }
}
