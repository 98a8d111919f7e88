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
import { libc } from '../linux/libc.ts'
import { EngineLacks, engineReasonOf } from './error.ts'
import { openingMessage } from './gate.ts'

const mkfifo = libc.func('int mkfifo(const char *path, unsigned int mode)')

/** How to make a container. */
export interface ContainerPlan {
  /** As in Docker's API, except entrypoint and command. */
  readonly options: Docker.ContainerCreateOptions
  /** The program to run, with its arguments. */
  readonly command: readonly string[]
  /** Working directory of the program. */
  readonly workingDirectory: string
  /** Path of the gate, in the container and on this machine. */
  readonly gate: string
}

/** A running container whose program waits at the gate. */
export interface Container {
  readonly id: string
  /** Process id of its first process, on this machine. */
  readonly pid: number
  readonly stdout: Output
  readonly stderr: Output
  /** @param program its path in the container */
  letIn(program: string): void
  /** Resolves with the exit code. Must be called before the container ends. */
  exitCode(): Promise<number>
  /** Closes its files here. A container that was not let in ends. */
  leave(): void
}

/**
 * Creates and starts a container. It ends whatever happens to this process: a waiting one when its gate is closed, a
 * running one when it is not traced any more. The engine then removes it.
 *
 * @param directory for its output, at the same path in the container
 *
 * @param outputLengthMax limit on the output that is kept, from its end
 *
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
  // Writable for any user of an image.
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
      letIn: program => void writeSync(gateEnd, openingMessage(program)),
      exitCode: async () => (await container.wait()).StatusCode,
      leave,
    }
  } catch (error) {
    leave()
    if (error instanceof EngineLacks) throw error
    throw new EngineLacks(`the Docker engine cannot run ${options.Image}: ${engineReasonOf(error)}`, { cause: error })
  }
}

const atGateMsMax = 5000

/**
 * Waits until the engine's starter has executed the gate and the gate waits. By then it has opened all that it needs,
 * which later mounts may cover. The processes of a remote engine are never visible here.
 *
 * @param fifo descriptor of the FIFO from which the gate reads
 */
const untilAtGate = async (pid: number, gate: string, fifo: number): Promise<void> => {
  const path = `/proc/${pid}/cmdline`
  for (let waitedMs = 0; waitedMs < atGateMsMax && existsSync(path); waitedMs += 1) {
    if (readFileSync(path, 'latin1').startsWith(`${gate}\0`) && hasOpen(pid, fifo)) return
    await sleep(1)
  }
  throw new EngineLacks(
    'the Docker engine runs its containers on another machine, where their time and network cannot be held: expected an engine on ' +
      'this machine, or lastnail to be run there (docker/Dockerfile)',
  )
}

/** Whether a process has opened the same file as our descriptor. */
const hasOpen = (pid: number, descriptor: number): boolean => {
  const { dev, ino } = fstatSync(descriptor)
  const directory = `/proc/${pid}/fd`
  return readdirSync(directory).some(name => {
    const found = statSync(join(directory, name), { throwIfNoEntry: false })
    return found?.ino === ino && found.dev === dev
  })
}
