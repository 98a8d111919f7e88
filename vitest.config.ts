import { defineConfig } from 'vitest/config'
import { fast } from './test/fast.ts'
import LongestFirst from './test/longest-first.ts'

const include = ['test/**/*.test.ts']

export default defineConfig({
  test: {
    // Real-process tests hold processes by ptrace from the thread that started them: a process for each file, not a thread.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/summary.ts'],
    projects: [
      {
        extends: true,
        test: { name: 'fast', include: [...fast], isolate: false, setupFiles: ['test/no-processes.ts'] },
      },
      {
        extends: true,
        test: {
          ...{ name: 'all else', include, exclude: [...fast, '**/node_modules/**'] },
          // Once in thousands of tests, a busy machine's kernel or a peer of the test is late. What passed only the second time is listed at the end.
          retry: 1,
        },
      },
    ],
  },
})
