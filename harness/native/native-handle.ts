import { resolve } from 'node:path'
import { Agent, request } from 'undici'
import { readInside } from '../../linux/inside.ts'
import { asClientSocket } from '../clients/client-socket.ts'
import { type Inside, runInside } from '../clients/exec.ts'
import type { ExecResult, NodeHandle } from '../config/config.ts'
import type { NativeNode } from './native-node.ts'
import { connectInside, datagramsInside } from './sockets.ts'

/** Real time after which a request to a node is given up, in milliseconds. */
const patienceMs = 20_000

/**
 * A node as a client or observer uses it.
 *
 * @param onAsked is called when the node must run to answer
 */
export const handleOf = (node: NativeNode, onAsked: () => void = () => undefined): NodeHandle & { close(): void } => {
  const agent = new Agent({
    connect: ({ port }, done) => {
      const socket = connectInside(node.namespace, node.address, Number(port || 80))
      // The caller learns of the error.
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
  // The error of a stream that nobody listens to would end this program, and nodes come and go here.
  const connect = (port: number) =>
    asked(() => connectInside(node.namespace, node.address, port).on('error', () => undefined))
  return {
    name: node.name,
    address: node.address,
    http: (port, path, init) =>
      asked(() => request(`http://${node.address}:${port}${path}`, { ...init, dispatcher: agent })),
    tcp: connect,
    socket: port => asClientSocket(connect(port), socket => socket.connecting),
    udp: (port, data) => asked(() => askByDatagram(node, port, Buffer.from(data as Uint8Array))),
    exec: command => asked(() => exec(node, command)),
    output: () => node.output(),
    file: async path => readInside(rootOf(node), resolve(node.workingDirectory, path)),
    close: () => void agent.destroy().catch(() => undefined),
  }
}

const askByDatagram = ({ namespace, address }: NativeNode, port: number, data: Buffer): Promise<Buffer> => {
  const socket = datagramsInside(namespace, address)
  return new Promise<Buffer>((resolve, reject) => {
    const patience = setTimeout(() => reject(new Error(`no datagram came back from port ${port}`)), patienceMs)
    socket.once('message', resolve).once('error', reject)
    socket.once('close', () => clearTimeout(patience))
    socket.send(data, port, address)
  }).finally(() => socket.close())
}

const exec = async (node: NativeNode, command: readonly string[]): Promise<ExecResult> => {
  const result = await runInside(insideOf(node, command), command, patienceMs)
  if (result) return result
  throw new Error(`"${command.join(' ')}" has not ended in ${node.name} after ${patienceMs / 1000} s`)
}

/** Where to run a program in a node. @throws Error if the node is down */
export const insideOf = ({ name, inside }: NativeNode, command: readonly string[]): Inside => {
  if (inside) return inside
  throw new Error(`${name} is down: cannot run ${command.join(' ')} in it`)
}

const rootOf = ({ name, root }: NativeNode): number => {
  if (root !== undefined) return root
  throw Object.assign(new Error(`${name} is down`), { code: 'ENOENT' })
}
