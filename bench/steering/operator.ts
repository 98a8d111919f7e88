/**
 * `node operator.js PRIMARY REPLICA`, two addresses: an operator who promotes the replica once the primary has not answered for half a second, and
 * tries again if that was not answered. When the primary answers again, nothing is done any more.
 */
import { connect, type Socket } from 'node:net'

const [primary, replica] = process.argv.slice(2) as [string, string]
const silenceMs = 500
const everyMs = 200

let answeredMs = Date.now()
let isPromoted = false
let asks: Socket | undefined
let promotes: Socket | undefined

const open = (address: string, onData: (text: string) => void): Socket => {
  const socket: Socket = connect(6379, address)
  return socket.on('data', data => onData(String(data))).on('error', () => socket.destroy())
}

setInterval(() => {
  if (asks === undefined || asks.destroyed) asks = open(primary, () => (answeredMs = Date.now()))
  asks.write('PING\r\n')
  if (isPromoted || Date.now() - answeredMs < silenceMs) return
  if (promotes === undefined || promotes.destroyed)
    promotes = open(replica, text => (isPromoted ||= text.startsWith('+OK')))
  promotes.write('REPLICAOF NO ONE\r\n')
}, everyMs)
