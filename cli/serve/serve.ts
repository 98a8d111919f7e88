import PQueue from 'p-queue'
import { z } from 'zod'
import { servedPageOf } from '../../report/html.ts'
import { pack } from '../../report/pack.ts'
import type { Moved } from '../../report/page-data.ts'
import { closestLiveOf } from '../../report/report.ts'
import { type Timeline, withTimeline } from '../debug/timeline.ts'
import { explainError } from '../exit-code.ts'
import { print } from '../print.ts'
import { checkAsked, serve } from '../server.ts'

const step = z.int().min(0)
const asked = {
  go: z.object({ step }),
  take: z.object({ step, label: z.string() }),
  run: z.object({ step, node: z.string(), program: z.array(z.string()).min(1) }),
}

/**
 * Serves the report's page of a trace, with processes behind it that stand at one of its steps and do what the page asks,
 * until it is interrupted.
 *
 * @throws TraceError where the trace cannot be read
 * @throws Differs where its start is another now
 */
export const serveTrace = async (path: string, { port }: { port?: number }): Promise<void> => {
  const live = closestLiveOf(path)
  await withTimeline(path, async (timeline, trace, signal) => {
    const actions = actionsOn(timeline)
    const server = await serve(
      {
        reads: { '': token => ({ type: 'text/html; charset=utf-8', body: servedPageOf(trace, live, { token }) }) },
        actions,
        explain: error => explainError(error).lines.join('\n'),
      },
      port,
    )
    print([`${trace.header.system}: ${server.url}`, 'Ctrl-C ends it'])
    try {
      await new Promise(interrupted => signal.addEventListener('abort', interrupted))
    } finally {
      server.close()
    }
  })
}

/** One after the other: there is but one set of processes. */
const actionsOn = (timeline: Timeline) => {
  const queue = new PQueue({ concurrency: 1 })
  const moved = (): Moved => ({
    at: timeline.at,
    isBranch: timeline.isBranch,
    ...(timeline.isBranch && { packed: pack(timeline.execution.trace, undefined) }),
  })
  const inTurn =
    <Asked, Answer>(schema: z.ZodType<Asked>, act: (asked: Asked) => Promise<Answer>) =>
    (given: unknown) =>
      queue.add(() => act(checkAsked(schema, given)))
  return {
    go: inTurn(asked.go, async ({ step }) => {
      await timeline.goTo(step)
      return moved()
    }),
    take: inTurn(asked.take, async ({ step, label }) => {
      await timeline.goTo(step)
      await timeline.take(label)
      return moved()
    }),
    run: inTurn(asked.run, async ({ step, node, program }) => {
      await timeline.goTo(step)
      return timeline.run(node, program)
    }),
  }
}
