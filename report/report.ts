import { existsSync, writeFileSync } from 'node:fs'
import { readTrace } from '../checker/trace/read.ts'
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
  const besides = liveTracePath(tracePath)
  const live = existsSync(besides) ? readTrace(besides, { torn: 'accept' }) : undefined
  write(path, pageOf(trace, live))
  return path
}

const write = (path: string, page: string) => {
  try {
    writeFileSync(path, page)
  } catch (cause) {
    throw new ReportError(`cannot write the report ${path}: ${(cause as Error).message}`, { cause })
  }
}
