import type { WaySetting } from './timing.ts'

/** Merges a setting into the present one of its way. A way without effect is removed. */
export const mergeSetting = (settings: Map<string, WaySetting>, { from, to, isCut, pipe }: WaySetting): void => {
  const key = `${from}→${to}`
  const before = settings.get(key)
  const kept = { isCut: isCut ?? before?.isCut ?? false, pipe: pipe === undefined ? (before?.pipe ?? null) : pipe }
  if (kept.isCut || kept.pipe) settings.set(key, { from, to, ...kept })
  else settings.delete(key)
}
