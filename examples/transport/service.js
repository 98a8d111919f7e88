/** What the processes of both ends share: datagrams of JSON, and their log. */
import { createSocket } from 'node:dgram'

/** Splits `HOST:PORT`. */
export const endpoint = text => {
  const [host, port] = text.split(':')
  return { host, port: Number(port) }
}

/** Binds to an endpoint and calls `take` with each packet and where it came from; returns how to send one. */
export const listen = ({ host, port }, take, listening) => {
  const socket = createSocket('udp4')
  const send = (packet, to) => socket.send(JSON.stringify(packet), to.port, to.host)
  socket.on('message', (bytes, { address, port }) => {
    const packet = parse(bytes)
    if (packet) take(packet, { host: address, port })
  })
  socket.bind(port, host, listening)
  return send
}

/** A datagram can come from anywhere: what is not a packet is left alone. */
const parse = bytes => {
  try {
    return JSON.parse(bytes)
  } catch {
    console.error(`not a packet: ${bytes}`)
  }
}

let logged
/** Logs a state as a line of JSON if it is another one than the last. */
export const log = state => {
  const line = JSON.stringify(state)
  if (line !== logged) console.log(line)
  logged = line
}
