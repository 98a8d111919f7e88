import { join } from 'node:path'
import { Writing, writeWhole } from '../../checker/system/written.ts'
import type { DockerEngine } from '../../docker/engine.ts'
import type { ResolvedSystem } from '../../harness/config/config.ts'
import { unlessInterrupted } from '../../harness/hold/turns/interruption.ts'
import { Emulation, type EmulationObserver, type EmulationOptions } from '../../harness/native/emulation.ts'
import { newPlace } from '../command/store.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { amongGuests } from '../session/among-guests.ts'
import { clocksStartNow } from '../session/clocks-start.ts'
import { openEngine } from '../session/engine.ts'
import { headerOf } from '../traces/record.ts'
import { openControl } from './control.ts'
import { watchCpus } from './cpu-pressure.ts'
import { NativeTrace } from './native-trace.ts'
import { OutputFiles } from './output-files.ts'
import { requireLinks } from './planned-links.ts'
import { drawRun } from './plot.ts'
import { showRunProgress } from './progress.ts'
import { unpublished } from './publish.ts'
import { MeasuredLines, seriesOf, writeSeries } from './series.ts'
import type { RunOptions } from './settings.ts'
import { type Emulated, endedBy, interruptedOf, summaryOf } from './summary.ts'

/** Runs a system on this machine's clock and with the kernel's own TCP. */
export const emulateNatively = (
  config: LoadedConfig,
  system: ResolvedSystem,
  settings: EmulationOptions,
  options: RunOptions,
): Promise<Emulated> => {
  return amongGuests(async signal => {
    const progress = showRunProgress(settings.forMs)
    const measured = new MeasuredLines(system.emulation.measure)
    const full = new AbortController()
    const writing = new Writing(() => full.abort())
    const observer: { trace?: NativeTrace; outputs?: OutputFiles } & EmulationObserver = {
      onStart: progress.start,
      onHappening: happening => writing.try(() => observer.trace?.happened(happening)),
      onLook: (look, atMs, values) => {
        writing.try(() => {
          observer.trace?.looked(look, atMs)
          measured.see(observer.outputs?.append(look.outputs, atMs) ?? [])
        })
        progress.update(look, atMs, values)
      },
    }
    let engine: DockerEngine | undefined
    let emulation: Emulation | undefined
    let control: Awaited<ReturnType<typeof openControl>> | undefined
    try {
      engine = await unlessInterrupted(openEngine(system))
      emulation = await Emulation.open(system, settings, observer, engine)
      requireLinks(settings.links, { require: change => emulation!.cluster.requireLink(change) })
      const place = newPlace(options.out, system.name)
      const [trace, plot] = [join(place, 'run.trace'), join(place, 'run.svg')]
      const addresses = Object.fromEntries(emulation.cluster.nodes.map(({ name, address }) => [name, address]))
      const clocksStart = clocksStartNow()
      const header = headerOf(config, system, {
        seed: options.seed,
        clocksStart,
        options: { ...options, pace: 'native' },
        addresses,
      })
      observer.outputs = new OutputFiles(
        place,
        system.nodes.map(({ name }) => name),
      )
      observer.trace = new NativeTrace(trace, header, system.properties, options.keepMs)
      const { origin, token } = (control = await openControl(emulation, system.name, place, options.port ?? 0))
      process.stderr.write(`lastnail: control at ${origin} with token ${token}\n`)
      const busy = watchCpus()
      await emulation.run(AbortSignal.any([signal, full.signal]))
      const seconds = emulation.elapsedMs / 1000
      const summary = {
        ...summaryOf(emulation, {
          seed: options.seed,
          clocksStart,
          pace: 'native',
          seconds,
          virtualSeconds: seconds,
          lookedAt: settings.looks,
          interruptedOf: interruptedOf(signal, settings.forMs),
        }),
        notes: [...endedBy(writing.problem, seconds), ...busy(), ...emulation.cluster.notes],
      }
      const native = observer.trace
      writing.try(() => native.end(summary))
      const drawing = new Writing()
      const drawn = drawRun(emulation, system.name, seconds)
      drawing.try(() => writeWhole('the plot', plot, drawn))
      const series = options.series ? writeSeries(place, { ...seriesOf(emulation), ...measured.series }, drawing) : null
      const files = { trace, plot: drawing.problem === undefined ? plot : null, series }
      return {
        summary: { ...summary, notes: [...summary.notes, ...unpublished(system, 'native')], ...files },
        unwritten: [writing, drawing].flatMap(({ problem }) => problem ?? []),
      }
    } finally {
      progress.end()
      control?.close()
      await emulation?.close()
      await engine?.close()
    }
  })
}
