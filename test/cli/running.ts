import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { control } from '../../cli/emulate/client.ts'
import { copyOfFixtures, start } from './lastnail.ts'

type Run = ReturnType<typeof start>
type Asked = ReturnType<typeof control>

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

/** An emulation whose nodes are up, until the test is over. The configuration is one of the fixtures, or of these files. */
export const runningUntilOver = async (
  config: string,
  pace: string,
  files?: Readonly<Record<string, string>>,
  more: readonly string[] = [],
) => {
  const { directory, remove } = copyOfFixtures(files)
  const run = start(directory, ['emulate', config, '--pace', pace, '--for', '400h', '--json', ...more])
  onTestFinished(async () => {
    run.kill('SIGKILL')
    await run
    remove()
  })
  const { origin, token, control } = await controlOf(run)
  while ((await control.list()).nodes.some(({ isAlive }) => !isAlive)) await sleep(20)
  return { run, directory, control, where: ['--url', origin, '--token', token] }
}

/** A metric of a run; 0 where there is none of that name yet. */
export const metric = async (asked: Asked, name: string): Promise<number> =>
  Number(
    (await asked.metrics())
      .split('\n')
      .find(line => line.startsWith(`lastnail_${name} `))
      ?.split(' ')[1] ?? 0,
  )

/** Waits until a metric has grown by more than five. */
export const untilMore = async (asked: Asked, name: string): Promise<void> => {
  const before = await metric(asked, name)
  while ((await metric(asked, name)) <= before + 5) await sleep(50)
}

/** Waits until a property holds in each of some looks. */
export const untilHolds = async (asked: Asked, property: string): Promise<void> => {
  const looksWithout = () => metric(asked, `looks_without_property_total{property="${property}"}`)
  for (;;) {
    const before = await looksWithout()
    await untilMore(asked, 'looks_total')
    if ((await looksWithout()) === before) return
  }
}
