import type { Selection, StorySide } from './selection.ts'

interface StepLinkProps {
  readonly side?: StorySide
  readonly step: number
  readonly select: (selection: Selection) => void
  readonly children?: preact.ComponentChildren
}

/** A button that selects a step. */
export const StepLink = ({ side = 'main', step, select, children }: StepLinkProps) => (
  <button type="button" class="link" onClick={() => select({ side, step })}>
    {children ?? `step ${step}`}
  </button>
)
