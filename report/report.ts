import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { readTrace } from '../checker/trace/read.ts'
import type { Trace } from '../checker/trace/trace.ts'
import { ReportError } from './error.ts'
import { pageOf } from './html.ts'
import { replayCommand } from './model/again.ts'
import { ShownExecution } from './model/execution.ts'
import { issueOf } from './model/issue.ts'
import { verdictOf } from './model/story.ts'

/** Path of the closest live execution's trace: beside the trace of the dead one. */
export const liveTracePath = (trace: string): string => `${withoutExtension(trace)}.live.trace`

/** Default path of a trace's report. */
export const reportPath = (trace: string): string => `${withoutExtension(trace)}.html`

/** Path of a text for an issue: beside the trace. */
const issuePath = (trace: string): string => `${withoutExtension(trace)}.md`

const withoutExtension = (trace: string) => trace.replace(/\.trace$/, '')

/**
 * Writes the report of a trace as one HTML file that needs nothing else. It includes the closest live execution if its
 * trace lies beside the given one. A torn trace is shown as far as it goes.
 *
 * @throws TraceError if the trace cannot be read
 * @throws ReportError if the page cannot be written
 */
export const writeReport = (tracePath: string, path = reportPath(tracePath)): string => {
  const trace = readTrace(tracePath, { torn: 'accept' })
  write(path, pageOf(trace, closestLiveOf(tracePath), tracePath))
  return path
}

/** The closest live execution, if its trace lies beside the given one. */
export const closestLiveOf = (tracePath: string): Trace | undefined => {
  const besides = liveTracePath(tracePath)
  return existsSync(besides) ? readTrace(besides, { torn: 'accept' }) : undefined
}

/**
 * Writes a text for the issue of a project beside a trace; `undefined` if the trace ends with no violation.
 *
 * @throws TraceError if the trace cannot be read
 * @throws ReportError if the text cannot be written
 */
export const writeIssue = (tracePath: string): string | undefined => {
  const trace = readTrace(tracePath, { torn: 'accept' })
  const verdict = verdictOf(trace)
  if (verdict?.verdict !== 'violated' || !verdict.schedule) return undefined
  const path = issuePath(tracePath)
  write(path, `${issueOf(new ShownExecution(trace), verdict, replayCommand(tracePath)).join('\n')}\n`)
  return path
}

/** Readable by the user alone: the page holds everything that nodes sent and printed, perhaps secrets. */
const ownMode = 0o600

/** A new file that could not be written whole is removed. */
const write = (path: string, text: string) => {
  const isNew = !existsSync(path)
  try {
    writeFileSync(path, text, { mode: ownMode })
  } catch (cause) {
    if (isNew) rmSync(path, { force: true })
    throw new ReportError(
      `cannot write ${path.endsWith('.md') ? 'the text for an issue' : 'the report'} ${path}: ${(cause as Error).message}`,
      { cause },
    )
  }
}
