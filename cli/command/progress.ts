import type { Progress } from '../../checker/check.ts'

/** A check's progress in a line that overwrites itself on a terminal; nothing without a terminal. */
export const showProgress = (milliseconds: number | undefined) => {
  const begun = performance.now()
  let shown = Number.NEGATIVE_INFINITY
  const { isTerminal, update, end } = statusLine()
  return {
    update: ({ phase, executions, steps, states, depth, liveShare, finding }: Progress) => {
      const now = performance.now()
      if (!isTerminal || now - shown < 200) return
      shown = now
      const seconds = (now - begun) / 1000
      const left = milliseconds === undefined ? [] : [`${Math.max(0, Math.ceil(milliseconds / 1000 - seconds))} s left`]
      const line = [
        phase,
        `${executions} executions`,
        `${Math.round(steps / seconds)} steps/s`,
        `${states} states`,
        `depth ${depth}`,
        ...(liveShare === undefined ? [] : [`${Math.floor(100 * liveShare)} % live`]),
        ...left,
        ...(finding === undefined ? [] : [finding]),
      ].join(' · ')
      update(line)
    },
    end,
  }
}

/** A line that overwrites itself on a terminal; nothing without a terminal. */
export const statusLine = () => {
  const isTerminal = process.stderr.isTTY === true
  return {
    isTerminal,
    update: (text: string) => {
      if (!isTerminal) return
      // Cut to one line, since a wrapped line could not be overwritten. A terminal may have no width.
      const { columns } = process.stderr
      process.stderr.write(`\r\u001b[K${columns > 0 ? text.slice(0, columns - 1) : text}`)
    },
    end: () => {
      if (isTerminal) process.stderr.write('\r\u001b[K')
    },
  }
}
