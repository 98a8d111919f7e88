import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import PQueue from 'p-queue'
import { z } from 'zod'
import type { Trace } from '../../checker/trace/trace.ts'
import { servedPageOf } from '../../report/html.ts'
import { pack } from '../../report/pack.ts'
import type { Moved, Saved } from '../../report/page-data.ts'
import { closestLiveOf } from '../../report/report.ts'
import { print } from '../command/print.ts'
import { checkAsked, serve } from '../command/server.ts'
import { type Timeline, withTimeline } from '../debug/timeline.ts'

const step = z.int().min(0)
const asked = {
  go: z.object({ step }),
  take: z.object({ step, label: z.string() }),
  leave: z.object({}),
  save: z.object({}),
  run: z.object({ step, node: z.string(), program: z.array(z.string()).min(1) }),
}

/**
 * Serves the report page of a trace, with processes that go to any of its steps and do what the page asks, until
 * interrupted.
 *
 * @throws TraceError if the trace cannot be read
 *
 * @throws Differs if the system's start differs from the recorded one
 */
export const serveTrace = async (path: string, { port }: { port?: number }): Promise<void> => {
  const live = closestLiveOf(path)
  await withTimeline(path, async (timeline, trace, signal) => {
    const actions = actionsOn(timeline, trace, path)
    const server = await serve(
      {
        // Reloading the page finds the processes where they are.
        reads: {
          '': token => {
            const { at, isBranch, execution } = timeline
            const shown = isBranch ? ([execution.trace, undefined] as const) : ([trace, live] as const)
            const { page, policy } = servedPageOf(...shown, { token, at, isBranch })
            return { type: 'text/html; charset=utf-8', body: page, policy }
          },
        },
        actions,
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

/** One action at a time, because there is only one set of processes. */
const actionsOn = (timeline: Timeline, trace: Trace, path: string) => {
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
    leave: inTurn(asked.leave, async () => {
      await timeline.leaveBranch()
      return { ...moved(), packed: pack(trace, closestLiveOf(path)) }
    }),
    save: inTurn(asked.save, async (): Promise<Saved> => {
      const branch = unusedBranch(path)
      await timeline.save(branch)
      return { path: branch }
    }),
    run: inTurn(asked.run, async ({ step, node, program }) => {
      await timeline.goTo(step)
      return timeline.run(node, program)
    }),
  }
}

/** A path beside the trace: `neverOversold.branch-1.trace`. */
const unusedBranch = (path: string): string => {
  for (let ordinal = 1; ; ordinal++) {
    const branch = `${resolve(path).replace(/\.trace$/, '')}.branch-${ordinal}.trace`
    if (!existsSync(branch)) return branch
  }
}
