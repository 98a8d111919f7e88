import { defineSystem, jsonLines } from 'lastnail'

const count = Number(process.env.COUNT)
const routers = Number(process.env.ROUTERS ?? 0)
const name = (index: number) => `n${index + 1}`

/** As many small programs as the bench says, side by side or over an INET. Each says hello to the next once a second. */
export default defineSystem({
  name: 'heartbeat',
  nodes: Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      name(index),
      { command: [process.env.PROGRAM!, `{{${name((index + 1) % count)}.address}}`] },
    ]),
  ),
  state: jsonLines('stdout'),
  emulation: { for: '1m', ...(routers > 0 && { topology: { kind: 'inet', nodes: routers } }) },
})
