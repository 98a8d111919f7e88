import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type Docker from 'dockerode'
import { Output } from '../harness/files/output.ts'
import { libc } from '../proxy/libc.ts'
import { EngineLacks, reasonOf } from './error.ts'
import { goOn } from './gate.ts'

const mkfifo = libc.func('int mkfifo(const char *path, unsigned int mode)')

/** How a container is made. */
export interface ContainerPlan {
  /** As Docker's API has it, but for the entrypoint and command. */
  readonly options: Docker.ContainerCreateOptions
  /** The program that it runs, with its arguments. */
  readonly command: readonly string[]
  /** Where the program runs. */
  readonly workingDirectory: string
  /** Path of the gate, in the container and here. */
  readonly gate: string
}

/** A running container whose program waits to be let in. */
export interface Container {
  readonly id: string
  /** Of its first process, on this machine. */
  readonly pid: number
  readonly stdout: Output
  readonly stderr: Output
  /** @param program its path in the container */
  letIn(program: string): void
  /** When it has ended: as what. To be asked before it does. */
  exitCode(): Promise<number>
  /** Lets go of its files here. Unless it was let in, it ends. */
  leave(): void
}

/**
 * Creates and starts a container. Whatever happens to this process, it ends: what waits, when its gate is closed; what
 * runs, when nobody traces it any more. Then the engine removes it.
 *
 * @param directory for its output, at the same path in the container
 * @param outputLengthMax what is kept of its output, from the end
 * @throws EngineLacks
 */
export const startContainer = async (
  docker: Docker,
  { options, command, workingDirectory, gate }: ContainerPlan,
  directory: string,
  outputLengthMax?: number,
): Promise<Container> => {
  mkdirSync(directory, { recursive: true })
  const [out, err, fifo] = ['stdout', 'stderr', 'gate'].map(name => join(directory, name)) as [string, string, string]
  const [stdout, stderr] = [new Output(out, outputLengthMax), new Output(err, outputLengthMax)]
  // Whoever the image's user is.
  for (const path of [out, err]) chmodSync(path, 0o666)
  mkfifo(fifo, 0o644)
  const gateEnd = openSync(fifo, 'r+')
  const leave = () => {
    stdout.close()
    stderr.close()
    closeSync(gateEnd)
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    const Entrypoint = [gate, out, err, fifo, workingDirectory, ...command]
    const container = await docker.createContainer({ ...options, Entrypoint, Cmd: [] })
    await container.start()
    const { Pid: pid } = (await container.inspect()).State
    await untilAtGate(pid, gate, gateEnd)
    return {
      id: container.id,
      pid,
      stdout,
      stderr,
      letIn: program => void writeSync(gateEnd, goOn(program)),
      exitCode: async () => (await container.wait()).StatusCode,
      leave,
    }
  } catch (error) {
    leave()
    if (error instanceof EngineLacks) throw error
    throw new EngineLacks(`the Docker engine cannot run ${options.Image}: ${reasonOf(error)}`, { cause: error })
  }
}

const atGateMsMax = 5000

/**
 * Waits until the engine's starter has become the gate, and that waits: it has opened all that it needs, for what is
 * mounted then may cover it. Processes of an engine elsewhere are never seen here.
 *
 * @param fifo descriptor of what the gate reads from
 */
const untilAtGate = async (pid: number, gate: string, fifo: number): Promise<void> => {
  const path = `/proc/${pid}/cmdline`
  for (let waitedMs = 0; waitedMs < atGateMsMax && existsSync(path); waitedMs += 1) {
    if (readFileSync(path, 'latin1').startsWith(`${gate}\0`) && hasOpen(pid, fifo)) return
    await sleep(1)
  }
  throw new EngineLacks(
    'the Docker engine runs its containers elsewhere, where their time and network cannot be held: expected an engine on ' +
      'this machine, or lastnail to be run there (docker/Dockerfile)',
  )
}

/** Whether a process has what is behind a descriptor of ours. */
const hasOpen = (pid: number, descriptor: number): boolean => {
  const { dev, ino } = fstatSync(descriptor)
  const directory = `/proc/${pid}/fd`
  return readdirSync(directory).some(name => {
    const found = statSync(join(directory, name), { throwIfNoEntry: false })
    return found?.ino === ino && found.dev === dev
  })
}
