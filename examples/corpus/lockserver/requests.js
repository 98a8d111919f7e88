/** Requests and their answers between processes, as lines of JSON over TCP: one request at a time on a socket. */
import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { endpoint } from '../common/address.js'
import { parse } from '../common/json.js'

const write = (socket, message) => socket.write(`${JSON.stringify(message)}\n`)

/** Listens on the address `own`. What `answer(request)` resolves with goes back; `onOpen()` when it is listened on. */
export const serve = (own, answer, onOpen = () => {}) => {
  const attend = socket => {
    socket.setNoDelay(true)
    socket.on('error', () => {}) // who asked has gone, and takes no answer
    createInterface({ input: socket }).on('line', async line => {
      const request = parse(line)
      if (request !== undefined) write(socket, await answer(request))
    })
  }
  createServer(attend).listen(endpoint(own), onOpen)
}

/**
 * A pool of at most `socketsMax` sockets to an address. `request(message)` resolves with the answer; it waits for a socket
 * where all are in use, and rejects where the connection is lost.
 */
export const openPool = (address, socketsMax = Infinity) => {
  const idle = []
  const waiting = []
  let opened = 0

  const open = () => {
    opened += 1
    const socket = connect({ ...endpoint(address), noDelay: true })
    return { socket, lines: createInterface({ input: socket }) }
  }

  const take = () => {
    if (idle.length > 0) return idle.pop()
    if (opened < socketsMax) return open()
    return new Promise(resolve => waiting.push(resolve))
  }

  const give = line => {
    if (waiting.length > 0) waiting.shift()(line)
    else idle.push(line)
  }

  const answer = ({ socket, lines }) =>
    new Promise((resolve, reject) => {
      const lost = error => reject(error ?? new Error(`${address} closed the connection`))
      socket.once('error', lost).once('close', lost)
      lines.once('line', text => {
        socket.off('error', lost).off('close', lost)
        resolve(JSON.parse(text))
      })
    })

  const request = async message => {
    const line = await take()
    write(line.socket, message)
    const answered = await answer(line)
    give(line)
    return answered
  }

  return { request }
}
