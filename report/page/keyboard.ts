import { useLayoutEffect } from 'preact/hooks'
import type { Story } from '../model/story.ts'
import { executionOn, type Selection } from './selection.ts'
import { searchFieldId } from './toolbar.tsx'

interface Actions {
  readonly story: Story
  /** Steps that are shown. */
  readonly steps: readonly number[]
  readonly selection: Selection
  readonly select: (selection: Selection) => void
  readonly isComparing: boolean
  readonly changeZoom: (by: number) => void
}

/** Keyboard commands of the page. They are off while the user types. */
export const useKeyboard = (actions: Actions): void => {
  // A layout effect runs before the next paint. A later one could miss what the previous key selected.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) return
      if (act(event.key, actions)) event.preventDefault()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  })
}

const page = 20

/** Returns false for a key without a meaning. */
const act = (key: string, actions: Actions): boolean => {
  const { story, steps, selection, select, isComparing, changeZoom } = actions
  const move = (by: number) => select({ ...selection, step: moved(reachable(actions), selection.step, by) })
  const to = (step: number | undefined) => select({ ...selection, step: step ?? selection.step })
  switch (key) {
    case 'ArrowDown':
      move(1)
      return true
    case 'ArrowUp':
      move(-1)
      return true
    case 'PageDown':
      move(page)
      return true
    case 'PageUp':
      move(-page)
      return true
    case 'Home':
      to(steps[0])
      return true
    case 'End':
      to(reachable(actions).at(-1))
      return true
    case 'ArrowLeft':
    case 'ArrowRight':
      if (isComparing) select({ ...selection, side: key === 'ArrowRight' ? 'live' : 'main' })
      return isComparing
    case 'c':
      select({ side: 'main', step: story.decisive })
      return true
    case '+':
    case '-':
      changeZoom(key === '+' ? 1 : -1)
      return true
    case '/':
      document.getElementById(searchFieldId)?.focus()
      return true
    default:
      return false
  }
}

/** The shown steps that belong to the selected execution. */
const reachable = ({ story, steps, selection }: Actions) => {
  const { end } = executionOn(story, selection.side)
  return steps.filter(step => step <= end)
}

const moved = (steps: readonly number[], from: number, by: number): number => {
  const next = steps.findIndex(step => step >= from)
  const place = next === -1 ? steps.length : next
  // A hidden step lies between two shown ones, so the next shown step is one move away.
  const isBetween = steps[place] !== from && by > 0
  return steps[Math.max(0, Math.min(place + by - (isBetween ? 1 : 0), steps.length - 1))] ?? from
}

/** Whether a form field, or a scrolling element, handles the key itself. */
const isTaken = ({ target, key }: KeyboardEvent): boolean => {
  if (!(target instanceof HTMLElement)) return false
  if (target.closest('input, select, textarea')) return true
  // The details pane scrolls by these keys.
  return target.closest('.details') !== null && /^(Arrow|Page|Home|End)/.test(key)
}
