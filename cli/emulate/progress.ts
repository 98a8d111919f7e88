import type { Look } from '../../harness/timed/look.ts'

/** A progress line that overwrites itself on a terminal; nothing without a terminal. */
export const showRunProgress = (forMs: number) => {
  const isTerminal = process.stderr.isTTY === true
  let inconsistent = 0
  const show = (line: string) => {
    if (isTerminal) process.stderr.write(`\r\u001b[K${line.slice(0, (process.stderr.columns || 80) - 1)}`)
  }
  return {
    start: (started: number, all: number) => show(`starting · ${started} of ${all} nodes`),
    update: ({ state }: Look, atMs: number, values: Readonly<Record<string, boolean>>) => {
      const out = Object.keys(values).filter(name => !values[name])
      if (out.length > 0) inconsistent += 1
      const alive = state.nodes.filter(({ alive }) => alive).length
      const left = Math.max(0, Math.ceil((forMs - atMs) / 1000))
      const now = out.length === 0 ? 'all properties hold' : `not now: ${out.join(', ')}`
      show(`${alive} nodes up · ${inconsistent} inconsistent looks · ${left} s left · ${now}`)
    },
    ending: () => show('ending'),
    end: () => {
      if (isTerminal) process.stderr.write('\r\u001b[K')
    },
  }
}
