import { readFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { Agent, request } from 'undici'
import type { NodeHandle } from '../config.ts'
import { runInside } from '../exec.ts'
import type { LiveNode } from './live-node.ts'
import { connectInside, datagramsInside } from './sockets.ts'

/** Real time after which what was asked of a node is given up. */
const patienceMs = 20_000

/**
 * A node for a client or an observer.
 *
 * @param onAsked it has to be running now, to answer
 */
export const handleOf = (node: LiveNode, onAsked: () => void = () => undefined): NodeHandle & { close(): void } => {
  const agent = new Agent({
    connect: ({ port }, done) => {
      const socket = connectInside(node.namespace, node.address, Number(port || 80))
      // Whoever asked learns of it.
      socket.once('error', () => undefined)
      if (socket.errored) process.nextTick(done, socket.errored, null)
      else process.nextTick(done, null, socket)
    },
    headersTimeout: patienceMs,
    bodyTimeout: patienceMs,
  })
  const asked = <Result>(ask: () => Result): Result => {
    onAsked()
    return ask()
  }
  return {
    name: node.name,
    address: node.address,
    http: (port, path, init) =>
      asked(() => request(`http://${node.address}:${port}${path}`, { ...init, dispatcher: agent })),
    tcp: port => asked(() => connectInside(node.namespace, node.address, port)),
    udp: (port, data) => asked(() => askByDatagram(node, port, Buffer.from(data as Uint8Array))),
    exec: command => asked(() => exec(node, command)),
    output: () => node.output(),
    file: path => readFile(pathInside(node, path)),
    close: () => void agent.destroy().catch(() => undefined),
  }
}

const askByDatagram = ({ namespace, address }: LiveNode, port: number, data: Buffer): Promise<Buffer> => {
  const socket = datagramsInside(namespace, address)
  return new Promise<Buffer>((resolve, reject) => {
    const patience = setTimeout(() => reject(new Error(`no datagram came back from port ${port}`)), patienceMs)
    socket.once('message', resolve).once('error', reject)
    socket.once('close', () => clearTimeout(patience))
    socket.send(data, port, address)
  }).finally(() => socket.close())
}

const exec = async (node: LiveNode, command: readonly string[]) => {
  const { pid } = node
  if (pid === undefined) throw new Error(`${node.name} is down: cannot run ${command.join(' ')} in it`)
  return runInside(pid, command, node.workingDirectory)
}

const pathInside = ({ name, pid, workingDirectory }: LiveNode, path: string): string => {
  if (pid === undefined) throw Object.assign(new Error(`${name} is down`), { code: 'ENOENT' })
  return `/proc/${pid}/root${isAbsolute(path) ? path : join(workingDirectory, path)}`
}
