import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, expect } from 'vitest'

/** Page faults of this process's children that have ended: in /proc/self/stat, the ninth number after the name. */
const faultsOfEnded = (): number => {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[8])
}

const childrenNow = (): string[] =>
  readdirSync('/proc/self/task')
    .flatMap(thread => readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' '))
    .filter(pid => pid !== '')

const before = faultsOfEnded()

afterAll(() => {
  const what = 'a test of `npm run test:fast` started a process: take its file out of test/fast.ts'
  expect({ childrenThatEnded: faultsOfEnded() > before, children: childrenNow() }, what).toEqual({
    childrenThatEnded: false,
    children: [],
  })
})
