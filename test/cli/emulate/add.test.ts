import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { lastnail } from '../lastnail.ts'
import { runningUntilOver, untilHolds } from '../running.ts'

const server = `
  const [name, address] = process.argv.slice(1)
  console.log(JSON.stringify({ name, address, id: process.env.ID }))
  require('node:http').createServer((_, response) => response.end('I am ' + name)).listen(8080, address)`

/** Runs a server, and one who can ask it, until the test is over. */
const running = async (pace: string, emulation: string) => {
  const { control, where, ...others } = await runningUntilOver('servers.config.ts', pace, {
    'servers.config.ts': `
      import { defineSystem, jsonLines } from 'lastnail'
      export default defineSystem({
        name: 'servers',
        nodes: {
          first: { command: ['node', '-e', ${JSON.stringify(server)}, 'first', '{{first.address}}'], env: { ID: 'first' } },
          asker: { command: ['sleep', '100000'] },
        },
        state: jsonLines('stdout'),
        emulation: { ${emulation} },
      })`,
  })
  /** What somebody says to the asker. */
  const answerOf = async (name: string, patienceMs = 1500): Promise<string> => {
    const ask = `fetch('http://${name}:8080', { signal: AbortSignal.timeout(${patienceMs}) })
      .then(response => response.text(), () => 'nothing').then(said => { console.log(said); process.exit() })`
    return (await control.exec('asker', ['node', '-e', ask])).stdout
  }
  /** Once it says something. */
  const nowSays = async (name: string) => {
    for (;;) {
      const answer = await answerOf(name)
      if (answer !== 'nothing') return answer
      await sleep(50)
    }
  }
  return { ...others, control, answerOf, nowSays, where: ['control', ...where] }
}

test.each([
  ['side by side', ''],
  ['over an internet', `topology: { kind: 'inet', nodes: 200 }`],
  ['over each of its links', `topology: { kind: 'inet', nodes: 200 }, hops: 'each'`],
])(
  '%s a node that the configuration does not have is found, cut, ended and started again',
  {
    timeout: 180_000,
  },
  async (_, emulation) => {
    const { run, directory, control, answerOf, nowSays, where } = await running('native', emulation)
    await control.partition(['asker'], ['first'])
    const { stdout, code } = await lastnail(directory, ...where, 'add', 'second', '--like', 'first', '--json')
    expect(code).toBe(0)
    const [first, , second] = JSON.parse(stdout).nodes
    expect(second).toEqual({ name: 'second', address: '10.77.0.4', isAlive: true, isCut: false })
    expect(await answerOf('second')).toBe('nothing')
    await control.heal()
    expect(await nowSays('second')).toBe('I am second')
    expect(await nowSays('first')).toBe('I am first')
    if (emulation !== '') {
      await control.link({ link: 'second', isDown: true })
      expect(await answerOf('second')).toBe('nothing')
      await control.link({ link: 'second', asBefore: true })
    }
    await control.kill('second')
    expect(await answerOf('second')).toBe('nothing')
    await control.join('second')
    expect(await nowSays('second')).toBe('I am second')
    await control.add('third', 'second')
    expect(await nowSays('third')).toBe('I am third')
    const { directory: place } = await control.list()
    const written = (node: string) => {
      const path = join(place, 'output', `${node}.stdout`)
      return existsSync(path) ? readFileSync(path, 'utf8').split('\n')[0]! : ''
    }
    // What a node prints is seen by the next look.
    while (written('third') === '') await sleep(50)
    run.kill('SIGINT')
    const { trace } = JSON.parse(String((await run).stdout))
    expect(JSON.parse(written('first'))).toEqual({ name: 'first', address: first.address, id: 'first' })
    expect(JSON.parse(written('third'))).toEqual({ name: 'third', address: '10.77.0.5', id: 'third' })
    expect(await lastnail(directory, 'report', trace, '--out', 'report.html')).toMatchObject({ code: 0 })
    expect(existsSync(join(directory, 'report.html'))).toBe(true)
  },
)

test('clients use a node that was added from their next call on', { timeout: 180_000 }, async () => {
  const { control } = await runningUntilOver(
    'server.config.ts',
    'native',
    {
      'server.config.ts': `
        import { defineSystem, eventually, jsonLines } from 'lastnail'
        export default defineSystem({
          name: 'servers',
          nodes: { first: { command: ['node', '-e', ${JSON.stringify(server)}, 'first', '{{first.address}}'] } },
          state: jsonLines('stdout'),
          clients: { asker: async nodes => Object.keys(nodes).join() + (await nodes.second.http(8080, '/')).statusCode },
          properties: { isAnswered: eventually(({ calls }) => calls.some(({ value }) => value === 'first,second200')) },
        })`,
    },
    ['--look', '100ms'],
  )
  await control.add('second', 'first')
  await untilHolds(control, 'isAnswered')
})

test('a node that cannot be added is refused with the reason', { timeout: 180_000 }, async () => {
  const { control } = await running('native', '')
  await expect(control.add('first', 'first')).rejects.toThrow('there is a node first already')
  await expect(control.add('no name', 'first')).rejects.toThrow('since it is a host name, found no name')
  await expect(control.add('second', 'nobody')).rejects.toThrow('no node nobody')
  await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(index => control.add(`more-${index}`, 'asker')))
  expect(new Set((await control.list()).nodes.map(({ address }) => address)).size).toBe(10)
  await expect(control.add('ninth', 'asker')).rejects.toThrow('8 nodes were added: there is no place for more')
  const held = await running('virtual', '')
  await expect(held.control.add('second', 'first')).rejects.toThrow(
    'second cannot be added at the pace virtual, for a replay has the nodes of the configuration',
  )
})
