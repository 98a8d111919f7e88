import { expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, lastnail } from '../lastnail.ts'

/** Each waits for 10^9 s in another way, which no clock of a node shows; what ends a wait ends the program. */
const waits = {
  sleep: 'time.sleep(1e9)',
  alarm: 'signal.alarm(10**9); signal.pause()',
  itimer:
    'signal.setitimer(signal.ITIMER_REAL, 1e9); print(signal.getitimer(signal.ITIMER_REAL)[0] > 9e8, file=sys.stderr); signal.pause()',
  lock: 'threading.Event().wait(4e6 * 2)',
  socket: `
s = socket.create_server(('', 7000))
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('ll', 10**9, 0))
s.accept()`,
}

const program = `
import json, os, signal, socket, struct, sys, threading, time
# Drops its lease when that is older than 5 s: mtime against time().
open('lease', 'w').write('me')
def show(lease): print(json.dumps({'lease': lease}), flush=True)
show(True)
for _ in range(5):
    time.sleep(2)
    age = time.time() - os.stat('lease').st_mtime
    show(age <= 5)
    if age > 5: break
exec(sys.argv[1])
`

const config = `
  import { defineSystem, eventually, jsonLines } from 'lastnail'
  const waits = ${JSON.stringify(waits)}
  const nodes = Object.entries(waits).map(([name, wait]) => [name, { command: ['python3', '-S', '-E', 'lease.py', wait] }])
  export default defineSystem({
    name: 'leases',
    nodes: Object.fromEntries(nodes.filter(([name]) => name === process.env.WAIT)),
    state: jsonLines('stdout'),
    properties: { expires: eventually(state => state.nodes.every(node => node.state?.lease === false)) },
  })`

test.each(Object.keys(waits))(
  'an instant that cannot be represented never comes: no timer is offered for %s',
  { timeout: 60_000 },
  async wait => {
    const { directory, remove } = copyOfFixtures({
      'lease.py': program,
      'leases.config.mjs': config.replace('process.env.WAIT', JSON.stringify(wait)),
    })
    onTestFinished(remove)
    const { code, stdout } = await lastnail(
      directory,
      'check',
      'leases.config.mjs',
      '--workers',
      '1',
      '--executions',
      '20',
    )
    expect([code, stdout]).toEqual([0, expect.stringContaining('every schedule to its end')])
  },
)

const late = (waitMs: number) => ({
  'ticks.cjs': `
    let ticks = 0
    setInterval(() => console.log(JSON.stringify({ ticks: ++ticks })), 100)`,
  'late.cjs': `setInterval(() => console.log(JSON.stringify({ late: true })), ${waitMs})`,
  'late.config.mjs': `
    import { always, defineSystem, jsonLines } from 'lastnail'
    export default defineSystem({
      name: 'late',
      nodes: { a: { command: ['node', 'ticks.cjs'] }, b: { command: ['node', 'late.cjs'] } },
      state: jsonLines('stdout'),
      properties: { inTime: always(state => !state.nodes.some(node => node.state?.late)) },
    })`,
})

test.each([
  [1e9, /^violated: safety inTime, only where a timer of 11\.6 days of b fires/m],
  [600_000, /^violated: safety inTime(?!.*days)/m],
  [30_000, /^violated: safety inTime(?!.*days)/m],
])(
  'a finding behind a timer of %i ms is found, and says first that it needs one that is far',
  async (waitMs, expected) => {
    const { directory, remove } = copyOfFixtures(late(waitMs))
    onTestFinished(remove)
    const { code, stdout } = await lastnail(
      directory,
      'check',
      'late.config.mjs',
      '--workers',
      '1',
      '--executions',
      '60',
    )
    expect([code, stdout]).toEqual([1, expect.stringMatching(expected)])
  },
)
