import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { openTerminal } from '../../harness/native/terminal.ts'
import { command } from './lastnail.ts'

const patienceMs = 60_000

/** A person at a terminal in which a command of ours runs, with these variables too. */
export const person = (directory: string, args: readonly string[], variables?: Readonly<Record<string, string>>) => {
  const environment = { ...process.env, TERM: 'vt100', ...variables } as Record<string, string>
  const { screen, resize, ended } = openTerminal(
    { pid: process.pid, environment, directory },
    [process.execPath, command, ...args],
    { kind: 'vt100', columns: 100, rows: 40 },
  )
  let seen = ''
  screen.setEncoding('utf8').on('data', text => {
    seen += text
  })
  onTestFinished(() => void screen.destroy())
  return {
    resize,
    ended,
    leave: () => void screen.destroy(),
    type: (text: string) => void screen.write(text),
    /** Waits until this is shown after what was last waited for. */
    sees: async (pattern: RegExp): Promise<void> => {
      const begun = performance.now()
      for (let found = pattern.exec(seen); !found; found = pattern.exec(seen)) {
        if (performance.now() - begun > patienceMs) throw new Error(`${pattern} is not in ${JSON.stringify(seen)}`)
        await sleep(20)
      }
      seen = ''
    },
  }
}
