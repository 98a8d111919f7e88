import type { Operation } from '../../../checker/history/operation.ts'

/**
 * A history, one event a line: `ann write 1` or, of one of several objects, `ann write 1 of x`; `ann → 1` and `ann ok`
 * for a return with and without a result; `ann failed`; `ann ?` for an operation of which nothing more is known. Values
 * are JSON.
 */
export const history = (text: string): Operation[] => {
  const operations: Operation[] = []
  const running = new Map<string, number>()
  const lines = text.split('\n').filter(line => line.trim() !== '')
  for (const [time, line] of lines.entries()) {
    const [, process, event, rest, key] = /^\s*(\S+) (\S+)(?: (?!of )(.*?))?(?: of (\S+))?$/.exec(line)!
    if (!/^(→|ok|failed|\?)$/.test(event!)) {
      const value = rest === undefined ? undefined : JSON.parse(rest)
      running.set(process!, operations.length)
      operations.push({ process: process!, op: event!, key, value, outcome: 'unknown', invoked: time })
    } else if (event !== '?') {
      const index = running.get(process!)!
      const outcome = event === 'failed' ? 'failed' : 'ok'
      const result = event === '→' ? JSON.parse(rest!) : undefined
      operations[index] = { ...operations[index]!, outcome, result, returned: time }
    }
  }
  return operations
}
