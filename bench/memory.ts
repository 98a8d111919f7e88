/** The memory of the tool itself after a garbage collection: in one execution of many steps, then in many short executions. */
import { createHash } from 'node:crypto'
import { ringOf, start, walk } from './ring.ts'
import { row } from './table.ts'

const residentMb = (): string => {
  globalThis.gc?.()
  return (process.memoryUsage.rss() / 2 ** 20).toFixed(1)
}

/** Bytes of a state in a search, which stores only its fingerprint. */
const bytesOfState = (): number => {
  const count = 500_000
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  const states = new Set(
    Array.from({ length: count }, (_, index) => createHash('sha1').update(`${index}`).digest('hex')),
  )
  globalThis.gc?.()
  return (process.memoryUsage().heapUsed - before) / states.size
}

row('memory of a state that a search has met', bytesOfState().toFixed(0), 'bytes')
const cluster = ringOf('node, udp')
try {
  await start(cluster)
  row('memory of the tool, at the start', residentMb(), 'MB')
  for (let steps = 1000; steps <= 10_000; steps += 1000) {
    await walk(cluster, 1000)
    row(`memory after ${steps} steps of one execution`, residentMb(), 'MB')
  }
  for (let executions = 1; executions <= 45; executions++) {
    const { steps } = await start(cluster)
    await walk(cluster, 50 - steps)
    if (executions % 15 === 0) row(`memory after ${executions} fresh starts more, of 50 steps`, residentMb(), 'MB')
  }
} finally {
  cluster.close()
}
