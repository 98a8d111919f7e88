import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { TraceWriter } from '../../../checker/trace/write.ts'
import { copyOfFixtures, lastnail, start } from '../lastnail.ts'
import { recordedIn } from '../recorded.ts'

let directory: string
let trace: string
beforeAll(() => {
  const copy = copyOfFixtures()
  directory = copy.directory
  trace = recordedIn(directory, 'never-done')
  return copy.remove
})

const lastLine = (stdout: unknown) => {
  const text = String(stdout)
  return JSON.parse(text.slice(text.lastIndexOf('\n') + 1))
}

/** Once a message is lost, nobody sends it again. */
const drops = { env: { DROPS: '1' } }

const replay = async (path: string) => {
  const { exitCode, stdout } = await start(directory, ['replay', path, '--json'], drops)
  return { code: exitCode, replayed: lastLine(stdout) }
}

test('a replay of a death looks for life after its end', async () => {
  const { code, replayed } = await replay(trace)
  expect(code).toBe(1)
  expect(replayed).toMatchObject({ verdict: 'violated', property: 'bothDone', kind: 'liveness' })
  expect(replayed.message).toMatch(/^executed \d+ steps?, all as recorded; then it /)
})

test('a death that a replay refutes is not reported again', async () => {
  const { header, steps, end } = readTrace(trace)
  const path = join(directory, 'alive.trace')
  const writer = new TraceWriter(path, header)
  for (const step of steps.slice(0, -1)) writer.step(step)
  writer.end(end!)
  writer.close()
  const { code, replayed } = await replay(path)
  expect(code).toBe(0)
  expect(replayed.message).toMatch(/all as recorded; then it recovered in \d+ steps: bothDone can hold again$/)
})

test('a replayed suspect is not reported as a violation', async () => {
  const { header, steps, end } = readTrace(trace)
  const path = join(directory, 'suspicion.trace')
  const writer = new TraceWriter(path, header)
  for (const step of steps) writer.step(step)
  writer.end({ verdict: { ...(end!.verdict as object), verdict: 'undetermined', message: 'in doubt' } })
  writer.close()
  const { code, replayed } = await replay(path)
  expect(code).toBe(0)
  expect(replayed).toMatchObject({ verdict: 'held', walks: 0 })
  expect(replayed.message).toMatch(/no violation; what was recorded of it is undetermined: in doubt$/)
})

test('the step before the critical transition of a shrunk schedule recovers', async () => {
  const { exitCode, stdout } = await start(directory, ['shrink', trace, '--for', '20s', '--json'], drops)
  expect(exitCode).toBe(1)
  const { schedule, criticalTransition } = lastLine(stdout)
  expect(criticalTransition).toMatchObject({ case: 'C1', step: schedule.length, label: schedule.at(-1) })
})

test('a torn trace is reported as far as it goes, and said to be torn', async () => {
  const path = join(directory, 'torn.trace')
  const { header, steps } = readTrace(trace)
  const writer = new TraceWriter(path, header)
  for (const step of steps) writer.step(step)
  writer.close()
  const { code, stderr } = await lastnail(directory, 'report', path)
  expect(code).toBe(0)
  expect(stderr).toMatch(
    /^lastnail: the trace .*torn.trace is torn at byte \d+, after step \d+: .*; the report shows what is whole$/,
  )
})
