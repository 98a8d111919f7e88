import { expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, lastnail } from '../lastnail.ts'

/** One takes each `recv` for one message, which TCP does not promise; the other writes two. */
const program = `
import json, signal, socket, sys, time
def say(**state): print(json.dumps(state), flush=True)
if sys.argv[1] == 'a':
    server = socket.create_server(('', 7000))
    say(bad=0)
    stream = server.accept()[0]
    while text := stream.recv(65536):
        try: say(bad=0, n=len(json.loads(text)))
        except ValueError: say(bad=1)
else:
    stream = socket.create_connection(('a', 7000))
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream.sendall(json.dumps('x' * 10).encode())
    time.sleep(1)
    stream.sendall(json.dumps('x' * 1000).encode())
signal.pause()
`

const config = `
  import { always, defineSystem, jsonLines } from 'lastnail'
  export default defineSystem({
    name: 'border',
    nodes: { a: { command: ['python3', 'border.py', 'a'], listens: 7000 }, b: { command: ['python3', 'border.py', 'b'] } },
    state: jsonLines(),
    properties: { fine: always(s => s.node('a').state?.bad !== 1) },
  })`

test('a check of every schedule names the kinds of events that none of them has', { timeout: 60_000 }, async () => {
  const { directory, remove } = copyOfFixtures({ 'border.config.mjs': config, 'border.py': program })
  onTestFinished(remove)
  const run = (...args: readonly string[]) =>
    lastnail(directory, 'check', 'border.config.mjs', '--workers', '1', '--executions', '60', ...args)
  const { code, stdout } = await run()
  expect([code, stdout]).toEqual([0, expect.stringContaining('every schedule to its end')])
  const kinds = [
    expect.stringMatching(/^faults without a budget \(split, drop, .*crash.*\)$/),
    'small messages that TCP joins, or divides',
    'threads that race without a system call',
    'crashes in the middle of a step',
  ]
  expect(/^not among them: (.*)$/m.exec(stdout)?.[1]?.split('; ')).toEqual(kinds)
  const { notAmong } = JSON.parse((await run('--json')).stdout.split('\n').at(-1)!)
  expect(notAmong).toEqual(kinds)
})
