import type { Execution } from '../model/execution.ts'
import type { Story } from '../model/story.ts'

/** Which of two executions. */
export type Side = 'main' | 'live'

/** The step that is looked at. */
export interface Selection {
  readonly side: Side
  readonly step: number
}

export const executionOn = (story: Story, side: Side): Execution =>
  side === 'live' && story.live ? story.live : story.main

/** The step that the address names, as `#12` or `#live:12`; else the decisive one. */
export const selectionFrom = (hash: string, story: Story): Selection => {
  const [, live, step] = /^#(live:)?(\d+)$/.exec(hash) ?? []
  if (step === undefined) return { side: 'main', step: story.decisive }
  return within(story, { side: live && story.live ? 'live' : 'main', step: Number(step) })
}

export const hashOf = ({ side, step }: Selection): string => `#${side === 'live' ? 'live:' : ''}${step}`

/** A step that there is. */
export const within = (story: Story, { side, step }: Selection): Selection => ({
  side,
  step: Math.max(0, Math.min(step, executionOn(story, side).end)),
})
