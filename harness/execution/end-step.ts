import { labelsOf, readLabel } from '../../checker/system/labels.ts'
import type { Finding } from '../../checker/system/system.ts'
import type { Message } from '../../proxy/message.ts'
import type { NotCarried } from '../../proxy/network.ts'
import { outputsOf } from '../files/output.ts'
import { noteFullSharedMemory } from '../hold/calls/shared-memory.ts'
import { sweepTimerfds } from '../hold/kernel-timers.ts'
import type { Node } from '../node/node.ts'
import type { TimedHappening } from '../timed/timing.ts'
import type { Option } from './choices/action.ts'
import { enabledOptions } from './choices/due.ts'
import { hasCrashed } from './findings.ts'
import { noteLeft } from './happen.ts'
import { endedItself } from './node-start.ts'
import { seeWhoIsReady } from './ready.ts'
import type { Done, Stage } from './stage.ts'

/** Details of a step that only a trace needs. */
export interface StepDetails {
  readonly messages: readonly Message[]
  /** Labels of messages that disappeared without being taken by its choice. */
  readonly lost: readonly string[]
  readonly outputs: readonly { readonly node: string; readonly stream: 'stdout' | 'stderr'; readonly bytes: Buffer }[]
  readonly durationUs: number
  /** Labels of what happened in the start, where nodes waited for each other; of a step, none. */
  readonly started: readonly string[]
  /** When it was executed, in milliseconds since the start, in a system with a common time. */
  readonly atMs: number | undefined
  /** What somebody outside asked for while the system ran, if the step did that. */
  readonly input: TimedHappening | undefined
}

/** Details of a state before any step. */
export const noDetails: StepDetails = {
  messages: [],
  lost: [],
  outputs: [],
  durationUs: 0,
  started: [],
  atMs: undefined,
  input: undefined,
}

/**
 * Ends a step or the start: clients act, the nodes are observed, and the next choices are computed. Findings are added
 * to those of the step.
 *
 * @param taken messages that the step's choice took
 *
 * @param begun when the step began, by `performance.now()`
 */
export const endStep = async (
  stage: Stage,
  { findings, touched: reached }: Done,
  taken: readonly Message[],
  begun: number,
): Promise<{ readonly options: Option[]; readonly details: StepDetails }> => {
  const { execution } = stage
  const { network, time } = execution
  const callers = time ? execution.clients.calls.callers : []
  let touched = findings.length > 0 ? reached : await attendClients(stage, { findings, touched: reached })
  // What they had sent has arrived by now.
  if (endPowerless(stage) && findings.length === 0) touched = await attendClients(stage, { findings, touched })
  for (const { held } of touched) held?.waitingFaults.endStep()
  noteLeft(stage, touched)
  if (findings.length === 0) findings.push(...(await seeWhoIsReady(stage, touched)))
  network.endStep()
  const over = network.connectionsOver()
  const outputs = touched.flatMap(node => outputsOf(node))
  noteOf(stage, touched)
  if (findings.length === 0) findings.push(...crashesOf(touched))
  for (const node of touched) for (const process of node.held?.processes.values() ?? []) sweepTimerfds(process)
  execution.isOver ||= findings.length > 0
  if (!execution.isOver) {
    await observe(stage, touched)
    findings.push(...crashesOf(touched))
    execution.isOver = findings.length > 0
  }
  stage.watchUnanswered()
  const moment = stage.moment()
  // Where time decides what happens, nobody asks how long messages wait.
  if (stage.isSearched) execution.delays.endStep(moment.deliverable, () => stage.clocks())
  const { messages, lost } = execution.changesInFlight(network.messages.all(), labelsOf(taken))
  if (time) {
    time.send(messages)
    time.forget(labelsOf(taken), lost)
    time.forgetConnections(over)
    if (execution.start?.isOver === false) execution.start.see(messages)
    const waiting = execution.clients.calls.callers
    for (const client of callers) if (!waiting.has(client)) time.called(client)
  }
  const durationUs = Math.round((performance.now() - begun) * 1000)
  const started = execution.stepIndex === 0 ? [...execution.started] : []
  const details = { messages, lost, outputs, durationUs, started, atMs: time?.nowMs, input: time?.asked }
  return { options: execution.isOver ? [] : enabledOptions(moment), details }
}

/** A fault that waits for the node's next calls does not strike those by which it answers the observer. */
const observe = async (stage: Stage, touched: readonly Node[]): Promise<void> => {
  const waiting = touched.flatMap(({ held }) => held?.waitingFaults ?? [])
  for (const each of waiting) each.areAside = true
  try {
    await stage.execution.clients.observe(touched, () => stage.settleAlive(touched))
  } finally {
    for (const each of waiting) each.areAside = false
  }
}

const crashesOf = (nodes: readonly Node[]): Finding[] => nodes.filter(hasCrashed).flatMap(node => endedItself(node))

/** Ends the nodes whose power has failed in this step. Returns whether there were any. */
const endPowerless = ({ nodes, execution }: Stage): boolean => {
  const powerless = nodes.filter(({ held }) => held?.lostPower !== undefined)
  for (const node of powerless) {
    node.endPowerless()
    execution.remember(node.name, readLabel(`power ${node.name}`))
  }
  return powerless.length > 0
}

/** Returns the nodes that may have done something since the step began. */
const attendClients = async (stage: Stage, { findings, touched }: Done): Promise<readonly Node[]> => {
  const { execution, nodes } = stage
  const attended = await execution.clients.attend(() => stage.settleAlive(), execution.stepIndex)
  findings.push(...attended.findings)
  if (!attended.hasPassed) return touched
  // A client may have spoken to any node in between.
  for (const { name } of nodes) execution.remember(name, readLabel(`clients ${execution.schedule.at(-1) ?? ''}`))
  return nodes
}

const noteOf = ({ notes, execution, system }: Stage, touched: readonly Node[]): void => {
  for (const { name, held } of touched) {
    if (held) noteFullSharedMemory(held)
    if (held?.unsynced?.isSpared && system.faults.power > 0) held.note(sparedByOrder)
    for (const note of held?.notes ?? []) notes.add(`${name}: ${note}`)
  }
  for (const { from, what } of execution.network.notCarried()) notes.add(`${from}: ${notCarried[what]}`)
}

const sparedByOrder =
  "its power failed as on ext4 (`disk: { model: 'ordered' }`), which keeps names though their directory was not synced, and tears no record within a page; `disk: { model: 'posix' }` tries that too"

const notCarried: Record<NotCarried['what'], string> = {
  broadcast: 'no other node listened to a broadcast',
  multicast: 'no other node had joined the group of a multicast, and listened',
  other: 'protocols other than TCP, UDP and that of ping are not carried: no node received it',
  urgent: 'urgent data (MSG_OOB) arrives as any other: no mark and no SIGURG tell of it',
}
