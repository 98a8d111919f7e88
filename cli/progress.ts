import type { Progress } from '../checker/check.ts'

/** How far a check is, in a line that is written over itself on a terminal; nothing where there is none. */
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

/** A line that is written over itself on a terminal; nothing where there is none. */
export const statusLine = () => {
  const isTerminal = process.stderr.isTTY === true
  return {
    isTerminal,
    update: (text: string) => {
      if (!isTerminal) return
      // One line, whatever the terminal's width is: it could not be written over otherwise. A terminal may have none.
      const { columns } = process.stderr
      process.stderr.write(`\r\u001b[K${columns > 0 ? text.slice(0, columns - 1) : text}`)
    },
    end: () => {
      if (isTerminal) process.stderr.write('\r\u001b[K')
    },
  }
}
