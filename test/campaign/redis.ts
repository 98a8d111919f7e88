import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Debian's Redis in a process of its own, which keeps what it holds in a file that it appends to. */
export class RealRedis {
  readonly #directory = mkdtempSync(join(tmpdir(), 'lastnail-redis-'))
  readonly #options: readonly string[]
  #process: ChildProcess | undefined
  #port = 0

  private constructor(options: readonly string[]) {
    this.#options = options
  }

  static async start(...options: readonly string[]): Promise<RealRedis> {
    const redis = new RealRedis(options)
    redis.#port = await freePort()
    await redis.start()
    return redis
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`
  }

  async start(): Promise<void> {
    const args = ['--port', String(this.#port), '--bind', '127.0.0.1', '--dir', this.#directory]
    const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '']
    this.#process = spawn('redis-server', [...args, ...durable, ...this.#options], { stdio: 'ignore' })
    // A test that is out of time does not come to its end.
    const server = this.#process
    process.once('exit', () => server.kill('SIGKILL'))
    while (!(await this.#answers())) await sleep(50)
  }

  /** As a machine that loses its power. */
  async kill(): Promise<void> {
    const ended = once(this.#process!, 'exit')
    this.#process!.kill('SIGKILL')
    await ended
  }

  async stop(): Promise<void> {
    if (this.#process?.exitCode === null && this.#process.signalCode === null) await this.kill()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  /** All keys that it holds. */
  async keys(): Promise<string[]> {
    const redis = new Redis(this.url)
    try {
      return await redis.keys('*')
    } finally {
      redis.disconnect()
    }
  }

  /** Also one that asks for a password, or is full, answers. */
  async #answers(): Promise<boolean> {
    const socket = connect(this.#port, '127.0.0.1')
    try {
      socket.write('PING\r\n')
      const [answer] = await once(socket, 'data')
      return /^(\+PONG|-NOAUTH)/.test(String(answer))
    } catch {
      return false
    } finally {
      socket.destroy()
    }
  }
}
