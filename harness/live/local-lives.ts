import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { NetworkNamespace } from '../../proxy/namespace.ts'
import { childrenOf } from '../hold/descendants.ts'
import { launch, sendSignal } from '../hold/launch.ts'
import { coveredBy, environmentOf, findExecutable } from '../local-runtime.ts'
import { Output } from '../output.ts'
import type { NodePlan } from '../runtime.ts'
import { hostsShownTo } from '../shared-files.ts'
import { endingOf } from './ending.ts'
import { LiveDisk } from './live-disk.ts'
import { type LiveLife, type LiveRuntime, outputLengthMax } from './live-runtime.ts'

const SIGTERM = 15

/**
 * Becomes pid 1 of the node's pid namespace. It ends with this tool, and with the node's program; as pid 1 the program
 * itself would not hear signals that it has no handler for.
 */
const init = `mount -t proc proc /proc; exec setpriv --pdeathsig KILL sh -c '"$@" & wait $!' sh "$@"`

/** Runs a node's command as a process of this machine. */
export class LocalLives implements LiveRuntime {
  readonly workingDirectory: string
  readonly namespace = NetworkNamespace.create('live')
  readonly #plan: NodePlan
  readonly #executable: string
  readonly #disk: LiveDisk
  #lives = 0

  /** @throws ConfigError where the program is not found */
  constructor(plan: NodePlan) {
    this.#plan = plan
    this.#executable = findExecutable(plan.definition)
    this.workingDirectory = plan.definition.cwd ?? '/'
    this.#disk = new LiveDisk(plan.directory, coveredBy(this.workingDirectory), plan.definition)
  }

  async begin(): Promise<LiveLife> {
    const { directory, files, definition } = this.#plan
    const place = join(directory, `life${this.#lives++}`)
    mkdirSync(place, { recursive: true })
    const stdout = new Output(join(place, 'stdout'), outputLengthMax)
    const stderr = new Output(join(place, 'stderr'), outputLengthMax)
    const { pid, release } = launch({
      command: ['/bin/sh', '-c', init, 'sh', this.#executable, ...definition.command.slice(1)],
      environment: environmentOf(definition),
      directory: this.workingDirectory,
      hostname: definition.name,
      mounts: { overlays: this.#disk.next().layers, files: hostsShownTo(files), additions: [], empty: ['/dev/shm'] },
      stdout: stdout.descriptor,
      stderr: stderr.descriptor,
      network: this.namespace.fd,
    })
    release()
    return {
      pid,
      stdout,
      stderr,
      stop: () => {
        for (const child of childrenOf(pid)) sendSignal(child, SIGTERM)
      },
      ending: () => endingOf(pid),
      leave: () => {
        stdout.close()
        stderr.close()
      },
    }
  }

  close(): void {
    this.namespace.close()
  }
}
