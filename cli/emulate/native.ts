import { Writing } from '../../checker/system/written.ts'
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
import { requireLinks } from './planned-links.ts'
import { runPage } from './plots/run-page.ts'
import { showRunProgress } from './progress.ts'
import { unpublished } from './publish.ts'
import { RunFiles, traceIn } from './run-files.ts'
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
    const full = new AbortController()
    const writing = new Writing(() => full.abort())
    const observer: { trace?: NativeTrace; files?: RunFiles } & EmulationObserver = {
      onStart: progress.start,
      onHappening: happening => writing.try(() => observer.trace?.happened(happening)),
      onLook: (look, atMs, values) => {
        writing.try(() => {
          observer.trace?.looked(look, atMs)
          observer.files?.print(look.outputs, atMs)
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
      const trace = traceIn(place)
      const addresses = Object.fromEntries(emulation.cluster.nodes.map(({ name, address }) => [name, address]))
      const clocksStart = clocksStartNow()
      const header = headerOf(config, system, {
        seed: options.seed,
        clocksStart,
        options: { ...options, pace: 'native' },
        addresses,
      })
      const files = (observer.files = new RunFiles(place, system))
      observer.trace = new NativeTrace(trace, header, system.properties, options.keepMs)
      control = await openControl(emulation, {
        ...{ system: system.name, place, port: options.port ?? 0 },
        page: options.serve ? runPage(system, settings) : undefined,
      })
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
      const { problem, ...drawn } = files.end(emulation, {
        seconds,
        seed: options.seed,
        withSeries: options.series,
      })
      return {
        summary: { ...summary, notes: [...summary.notes, ...unpublished(system, 'native')], trace, ...drawn },
        unwritten: [writing.problem ?? [], problem ?? []].flat(),
      }
    } finally {
      progress.ending()
      control?.close()
      await emulation?.close()
      await engine?.close()
      progress.end()
    }
  })
}
