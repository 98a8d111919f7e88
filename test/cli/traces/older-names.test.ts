import { expect, test } from 'vitest'
import { recordedTiming, sessionKept } from '../../../cli/traces/recorded.ts'
import type { Timing } from '../../../harness/timed/timing.ts'

const timing = { pace: 'virtual', events: [] } as unknown as Timing
const said = { atMs: 1000, does: 'restart', node: 'a' }
const now = { atMs: 1000, does: 'reboot', node: 'a' }

test('a run in which a node was killed and started again is executed again from an older trace, and from a schedule', () => {
  const way = { header: { options: { timing } }, steps: [{}, { input: said }] } as unknown as Parameters<
    typeof recordedTiming
  >[0]
  expect(recordedTiming(way, 'moving')?.inputs).toEqual([now])
  const kept = { seed: 1, variant: 0, timing: JSON.stringify({ ...timing, inputs: [said] }), longTurns: false }
  expect(sessionKept({ ...kept, clocksStart: undefined }).timing?.inputs).toEqual([now])
})
