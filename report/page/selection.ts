import type { ShownExecution } from '../model/execution.ts'
import type { Story } from '../model/story.ts'

/** Which of the two executions. */
export type StorySide = 'main' | 'live'

/** The selected step. */
export interface Selection {
  readonly side: StorySide
  readonly step: number
}

export const executionOn = (story: Story, side: StorySide): ShownExecution =>
  side === 'live' && story.live ? story.live : story.main

/** The step that the URL's hash names, as `#12` or `#live:12`; else the decisive step. */
export const selectionFrom = (hash: string, story: Story): Selection => {
  const [, live, step] = /^#(live:)?(\d+)$/.exec(hash) ?? []
  if (step === undefined) return { side: 'main', step: story.decisive }
  return within(story, { side: live && story.live ? 'live' : 'main', step: Number(step) })
}

export const hashOf = ({ side, step }: Selection): string => `#${side === 'live' ? 'live:' : ''}${step}`

/** The nearest step that exists in the execution. */
export const within = (story: Story, { side, step }: Selection): Selection => ({
  side,
  step: Math.max(0, Math.min(step, executionOn(story, side).end)),
})
