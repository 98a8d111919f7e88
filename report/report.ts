import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { readTrace } from '../checker/trace/read.ts'
import type { Trace } from '../checker/trace/trace.ts'
import { ReportError } from './error.ts'
import { pageOf } from './html.ts'

/** Where the trace of the closest live execution lies: beside the trace of the dead one. */
export const liveTracePath = (trace: string): string => `${withoutExtension(trace)}.live.trace`

/** Where the report of a trace is put, unless it is said. */
export const reportPath = (trace: string): string => `${withoutExtension(trace)}.html`

const withoutExtension = (trace: string) => trace.replace(/\.trace$/, '')

/**
 * Writes the report of a trace, and of the closest live execution where its trace lies beside it: one HTML file that needs
 * nothing else. A torn trace is shown as far as it goes.
 *
 * @throws TraceError where the trace cannot be read
 * @throws ReportError where the page cannot be written
 */
export const writeReport = (tracePath: string, path = reportPath(tracePath)): string => {
  const trace = readTrace(tracePath, { torn: 'accept' })
  write(path, pageOf(trace, closestLiveOf(tracePath), tracePath))
  return path
}

/** The closest live execution to that of a trace, where its trace lies beside it. */
export const closestLiveOf = (tracePath: string): Trace | undefined => {
  const besides = liveTracePath(tracePath)
  return existsSync(besides) ? readTrace(besides, { torn: 'accept' }) : undefined
}

/** What nodes said, and were told, is their user's alone. */
const ownMode = 0o600

/** What cannot be written whole leaves no file where there was none. */
const write = (path: string, page: string) => {
  const isNew = !existsSync(path)
  try {
    writeFileSync(path, page, { mode: ownMode })
  } catch (cause) {
    if (isNew) rmSync(path, { force: true })
    throw new ReportError(`cannot write the report ${path}: ${(cause as Error).message}`, { cause })
  }
}
