// A node of Kademlia (Maymounkov and Mazières, IPTPS 2002) over UDP, as small as it can be: iterative lookups, three
// requests at once, of contacts in buckets by their distance. It stores a value under its own name at the nodes closest to
// that, and looks up the names of others.
//
// node.mjs ADDRESS:PORT NAME NAMES [ADDRESS:PORT of a node to join by]
import { createHash } from 'node:crypto'
import { createSocket } from 'node:dgram'

const [own, name, others, first] = process.argv.slice(2)
const names = others.split(',')
const bucketSize = 4
const atOnce = 3
const timeoutMs = 1000
const storeEveryMs = 10_000
const lookupEveryMs = 2000

const idOf = text => createHash('sha1').update(text).digest('hex')
const distance = (one, other) => BigInt(`0x${one}`) ^ BigInt(`0x${other}`)
const id = idOf(own)

/** Contacts by the highest bit in which their id differs from ours; the one heard of last comes last. */
const buckets = new Map()
const values = new Map()
const waiting = new Map()
const socket = createSocket('udp4')
let requests = 0

const heardOf = address => {
  if (address === own) return
  const place = distance(id, idOf(address)).toString(2).length
  const bucket = buckets.get(place) ?? buckets.set(place, []).get(place)
  const at = bucket.indexOf(address)
  if (at >= 0) bucket.splice(at, 1)
  else if (bucket.length >= bucketSize) return
  bucket.push(address)
}

const forget = address => {
  for (const bucket of buckets.values()) {
    const at = bucket.indexOf(address)
    if (at >= 0) bucket.splice(at, 1)
  }
}

const closest = key =>
  [...buckets.values()]
    .flat()
    .sort((one, other) => (distance(idOf(one), key) < distance(idOf(other), key) ? -1 : 1))
    .slice(0, bucketSize)

const send = (address, message) => {
  const [host, port] = address.split(':')
  socket.send(JSON.stringify({ ...message, from: own }), Number(port), host)
}

/** The answer of another node, or undefined if it has not come in time. */
const ask = (address, message) =>
  new Promise(resolve => {
    const number = ++requests
    const timer = setTimeout(() => {
      waiting.delete(number)
      forget(address)
      resolve(undefined)
    }, timeoutMs)
    waiting.set(number, answer => {
      clearTimeout(timer)
      waiting.delete(number)
      resolve(answer)
    })
    send(address, { ...message, number })
  })

/** Asks nodes ever closer to a key, until one has its value or the closest ones were asked. */
const lookup = async (key, wantsValue) => {
  const asked = new Set([own])
  let candidates = closest(key)
  for (;;) {
    const next = candidates.filter(address => !asked.has(address)).slice(0, atOnce)
    if (next.length === 0) return { nodes: candidates }
    for (const address of next) asked.add(address)
    const answers = await Promise.all(next.map(address => ask(address, { does: 'find', key, wantsValue })))
    const found = answers.find(answer => answer?.value !== undefined)
    if (found) return found
    const silent = next.filter((_, index) => answers[index] === undefined)
    candidates = [...new Set([...candidates, ...answers.flatMap(answer => answer?.nodes ?? [])])]
      .filter(address => address !== own && !silent.includes(address))
      .sort((one, other) => (distance(idOf(one), key) < distance(idOf(other), key) ? -1 : 1))
      .slice(0, bucketSize)
  }
}

socket.on('message', bytes => {
  const { does, number, from, key, wantsValue, value, nodes } = JSON.parse(bytes)
  heardOf(from)
  if (does === 'store') values.set(key, value)
  else if (does === 'answer') waiting.get(number)?.({ value, nodes })
  else {
    const found = wantsValue ? values.get(key) : undefined
    send(from, { does: 'answer', number, ...(found === undefined ? { nodes: closest(key) } : { value: found }) })
  }
})

const store = async () => {
  const key = idOf(name)
  const { nodes } = await lookup(key, false)
  for (const address of nodes) send(address, { does: 'store', key, value: own })
}

const measure = async () => {
  const wanted = names[Math.floor(Math.random() * names.length)]
  if (wanted === name) return
  const began = Date.now()
  const { value } = await lookup(idOf(wanted), true)
  console.log(`lookup ${Date.now() - began} ms failed ${value === undefined ? 1 : 0}`)
}

socket.bind(Number(own.split(':')[1]), own.split(':')[0], async () => {
  if (first) {
    heardOf(first)
    await lookup(id, false)
  }
  console.log(JSON.stringify({ joined: true }))
  await store()
  setInterval(store, storeEveryMs)
  setInterval(measure, lookupEveryMs)
})
