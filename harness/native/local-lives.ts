import { closeSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { NetworkNamespace } from '../../linux/namespace.ts'
import { Output } from '../files/output.ts'
import { runRoot } from '../files/run-root.ts'
import { hostsShownTo, trustShownTo } from '../files/shared-files.ts'
import { childrenOf } from '../hold/held/descendants.ts'
import { launch, sendSignal } from '../hold/start/launch.ts'
import { coveredDirectories } from '../hold/start/machine-files.ts'
import { environmentOf, findExecutable, findWritten } from '../node/local-runtime.ts'
import type { NodePlan } from '../node/runtime.ts'
import { endingOf } from './ending.ts'
import { NativeDisk } from './native-disk.ts'
import { type NativeLife, type NativeRuntime, outputLengthMax } from './native-runtime.ts'

const SIGTERM = 15

/**
 * Becomes pid 1 of the node's pid namespace, and ends with the node's program; where that ends well before others that it
 * made, with the last of them. If the program itself were pid 1, it would ignore signals without a handler.
 */
const init = `"$@" & wait $!
code=$?
while [ $code = 0 ]; do
  set -- /proc/[0-9]*
  [ $# -gt 1 ] && sleep 0.2 || exit 0
done
exit $code`

/** Runs a node's command as a process of this machine. */
export class LocalLives implements NativeRuntime {
  readonly workingDirectory: string
  readonly namespace = NetworkNamespace.create('native')
  readonly #plan: NodePlan
  readonly #executable: string
  readonly #write: readonly string[]
  readonly #disk: NativeDisk
  #lives = 0

  /** @throws ConfigError if the program, or a path for it to write to, is not found */
  constructor(plan: NodePlan) {
    this.#plan = plan
    this.#executable = findExecutable(plan.definition)
    this.#write = findWritten(plan.definition)
    this.workingDirectory = plan.definition.cwd ?? '/'
    this.#disk = new NativeDisk(plan.directory, coveredDirectories(runRoot()), plan.definition)
  }

  async begin(): Promise<NativeLife> {
    const { directory, files, shared, definition } = this.#plan
    const environment = environmentOf(definition)
    const place = join(directory, `life${this.#lives++}`)
    mkdirSync(place, { recursive: true })
    const stdout = new Output(join(place, 'stdout'), outputLengthMax)
    const stderr = new Output(join(place, 'stderr'), outputLengthMax)
    const { pid, root, release } = launch({
      command: ['/bin/sh', '-c', init, 'sh', this.#executable, ...definition.command.slice(1)],
      environment,
      directory: this.workingDirectory,
      hostname: definition.name,
      mounts: {
        overlays: this.#disk.next().layers,
        files: hostsShownTo(files),
        additions: trustShownTo(files),
        empty: [['/dev/shm', definition.limits.shmBytesMax]],
        shared,
        owned: runRoot(),
        write: this.#write,
      },
      stdout: stdout.descriptor,
      stderr: stderr.descriptor,
      network: this.namespace.fd,
      isHeld: false,
    })
    release()
    return {
      pid,
      root,
      environment,
      stdout,
      stderr,
      stop: () => {
        for (const child of childrenOf(pid)) sendSignal(child, SIGTERM)
      },
      ending: () => endingOf(pid),
      leave: () => {
        closeSync(root)
        stdout.close()
        stderr.close()
      },
    }
  }

  close(): void {
    this.namespace.close()
  }
}
