import { setTimeout as sleep } from 'node:timers/promises'
import { control } from '../../cli/emulate/client.ts'
import type { start } from './lastnail.ts'

type Run = ReturnType<typeof start>
export type Asked = ReturnType<typeof control>

/** Who can ask an emulated run, once it goes on. */
export const controlOf = async (run: Run) => {
  let said = ''
  run.stderr!.on('data', chunk => (said += chunk))
  for (;;) {
    const [, origin, token] = /control at (\S+) with token (\S+)\n/.exec(said) ?? []
    if (origin && token) return { control: control({ origin, token }), origin, token }
    if (run.exitCode !== null) throw new Error(`it ended: ${said}`)
    await sleep(20)
  }
}

/** A metric of a run; 0 where there is none of that name yet. */
export const metric = async (asked: Asked, name: string): Promise<number> =>
  Number(
    (await asked.metrics())
      .split('\n')
      .find(line => line.startsWith(`lastnail_${name} `))
      ?.split(' ')[1] ?? 0,
  )
