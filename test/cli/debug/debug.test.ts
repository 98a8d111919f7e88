import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { beforeAll, expect, test, vi } from 'vitest'
import { scheduleOf } from '../../../checker/trace/again.ts'
import { readTrace } from '../../../checker/trace/read.ts'
import { withTimeline } from '../../../cli/debug/timeline.ts'
import { Cluster } from '../../../harness/cluster.ts'
import { copyOfFixtures, lastnail, start } from '../lastnail.ts'
import { recordedIn } from '../recorded.ts'

let directory: string
let trace: string
/** Who wrote first, and who did not. */
let first: string
let other: string
beforeAll(() => {
  const copy = copyOfFixtures()
  directory = copy.directory
  trace = recordedIn(directory, 'never-written')
  first = scheduleOf(readTrace(trace))[0]![0]!
  other = first === 'a' ? 'b' : 'a'
  return copy.remove
})

/** What is printed after the start, and what is wrong with commands. */
const debug = async (...commands: readonly string[]) => {
  const input = commands.map(command => `${command}\n`).join('')
  const { exitCode, stdout, stderr } = await start(directory, ['debug', trace], { input })
  const lines = String(stdout).split('\n')
  const beginning = lines.findLastIndex((line, index) => index < 20 && /^ {7}bothDone does not hold$/.test(line)) + 1
  return { exitCode, lines: lines.slice(beginning), errors: String(stderr) }
}

const read = () => `${first}→store #1 4 bytes :7000 "read"`
const value = () => `store→${first} #1 7 bytes :7000 "value 0"`
const write = () => `${first}→store #2 7 bytes :7000 "write 1"`

test('goes on and back, and shows what a step changed and sent', async () => {
  const { exitCode, lines } = await debug('step', 'step 2', 'back', 'jump start', 'until neverWritten', 'state store')
  expect(exitCode).toBe(0)
  const stepped = {
    first: [`    1  ${read()}`, `       sent ${value()}  value 0`],
    second: [`    2  ${value()}`, `       sent ${write()}  write 1`],
    third: [
      `    3  ${write()}`,
      '       store value: 0 → 1',
      expect.stringMatching(/^ {7}sent store→. #2/),
      '       neverWritten does not hold',
      `       violated: neverWritten does not hold after step 3 (${write()})`,
    ],
  }
  const start = lines.filter(line => /does not hold$|holds$|→|^ {4}[123]/.test(line))
  expect(lines.slice(0, 2)).toEqual(stepped.first)
  expect(lines.slice(2, 7)).toEqual(stepped.third)
  expect(lines.slice(7, 9)).toEqual(stepped.second)
  expect(start.length).toBeGreaterThan(8)
  expect(lines.slice(-6)).toEqual([...stepped.third, 'store: {"value": 1}'])
})

test('goes back to a marked state, and executes nothing again', async () => {
  const execute = vi.spyOn(Cluster.prototype, 'execute')
  const executed = () => execute.mock.calls.map(([{ label }]) => label)
  try {
    await withTimeline(trace, async timeline => {
      await timeline.goTo(2)
      expect(executed()).toEqual([read(), value()])
      await timeline.goTo(1)
      expect(timeline.at).toBe(1)
      expect(timeline.enabled.map(({ label }) => label)).toContain(value())
      expect(executed()).toHaveLength(2)
      // What comes next is compared with what is known: the same.
      await timeline.goTo(3)
      expect(executed()).toEqual([read(), value(), value(), write()])
      expect(timeline.violation).toContain('neverWritten does not hold after step 3')
      await timeline.goTo(2)
      expect([timeline.violation, executed().length]).toEqual([undefined, 4])
    })
  } finally {
    execute.mockRestore()
  }
})

test('goes on until an expression over the state is true; what is wrong with one is one line', async () => {
  const written = "s.node('store').state?.value === 1"
  const { lines, errors } = await debug(
    ...[
      `until ${written}`,
      'jump start',
      "until s.node('store').state.value > 9",
      'until s.node(',
      'until s.nodes[9].state',
    ],
    ...['until (() => { for (;;); })()', 'until nothing'],
  )
  expect(lines).toContain(`    3  ${write()}`)
  expect(errors.split('\n')).toEqual([
    expect.stringMatching(
      /^lastnail: "s.node\('store'\).state.value > 9" is true after none of the \d+ steps from step 0/,
    ),
    expect.stringMatching(
      /^lastnail: expected a JavaScript expression over the state, s, found "s.node\(": Unexpected/,
    ),
    expect.stringMatching(
      /^lastnail: "s.nodes\[9\].state" cannot be evaluated after step 1: Cannot read properties of undefined/,
    ),
    expect.stringMatching(/^lastnail: .* cannot be evaluated after step 1: Script execution timed out/),
    `lastnail: no property "nothing": did you mean "bothDone"?`,
  ])
  const begun = await start(directory, ['debug', trace, '--until', written], { input: '' })
  expect(String(begun.stdout)).toContain(`    3  ${write()}`)
  expect(await start(directory, ['debug', trace, '--until', 'false'], { input: '' })).toMatchObject({ exitCode: 64 })
})

test('sees the steps of a node, a kind or a text alone', async () => {
  const { lines } = await debug('list', `only ${first}`, 'step', 'step', 'only', 'list write', 'list timer')
  expect(lines.slice(0, 4)).toEqual([
    '>    0  (start)',
    `     1  ${read()}`,
    `     2  ${value()}`,
    `     3  ${write()}`,
  ])
  expect(lines).toContain('all steps')
  expect(lines.slice(-1)).toEqual([`     3  ${write()}`])
})

test('takes another choice, and saves the branch as a trace that can be executed again', async () => {
  const branch = join(directory, 'branch.trace')
  const { lines, errors } = await debug(
    'step',
    'choices',
    `take ${other}→store #1 4 bytes :7000 "read"`,
    `save ${branch}`,
    'list',
  )
  expect(errors).toBe('')
  expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^>    [12]  store→${first} #1`)))
  expect(lines).toContain(`saved 2 steps to ${branch}`)
  expect(lines.slice(-3)).toEqual([
    '     0  (start)',
    `     1  ${read()}`,
    `>    2  ${other}→store #1 4 bytes :7000 "read"`,
  ])
  expect(scheduleOf(readTrace(branch))).toEqual([read(), `${other}→store #1 4 bytes :7000 "read"`])
  expect((await lastnail(directory, 'replay', branch)).code).toBe(0)
  const compared = await debug(`diff 3 ${branch}:2`)
  expect(compared.lines).toEqual(['store:', '- {"value": 1}', '+ {"value": 0}'])
})

test('a branch taken at the last step shows its own states, and can be left', async () => {
  const take = `take ${other}→store #1 4 bytes :7000 "read"`
  const { lines, errors } = await debug('jump 2', take, 'state store', 'return', 'step', 'state store', 'return')
  expect(errors).toBe('lastnail: this is the trace itself, not a branch')
  expect(lines.filter(line => line.startsWith('store: '))).toEqual(['store: {"value": 0}', 'store: {"value": 1}'])
  expect(lines).toContain(`    2  ${value()}`)
})

test('runs a program in a node, and lends it to a debugger', async () => {
  const { lines, errors } = await debug('step', 'run store hostname', 'attach store', '', 'step')
  expect(errors).toBe('')
  expect(lines[2]).toBe('store')
  expect(lines[3]).toMatch(/^process \d+ is stopped and can be debugged: gdb -p \d+/)
  expect(lines.slice(-2)).toEqual([`    2  ${value()}`, `       sent ${write()}  write 1`])
})

test('all of what was printed last arrives, however much', async () => {
  const { lines } = await debug("run store node -e console.log('x'.repeat(1e6))", 'quit')
  expect(lines.at(-1)).toHaveLength(1_000_000)
})

test('what is wrong with a command is said, and nothing is lost', async () => {
  const { exitCode, errors, lines } = await debug(
    'jump 4',
    'jump',
    'step x',
    'frob',
    'take nobody',
    'state c',
    'diff none',
    // Not a regular expression, so a plain text.
    'choices (',
    'back',
    'step',
  )
  expect(exitCode).toBe(0)
  expect(errors.split('\n')).toEqual([
    'lastnail: there is no step 4: the last that is known is 3',
    'lastnail: expected a step, start, end or critical, found ""',
    'lastnail: expected a number of steps, found "x"',
    'lastnail: no command "frob": "help" lists them',
    'lastnail: "nobody" is not enabled here: "choices" lists what is',
    'lastnail: expected a node (store, a, b), found "c"',
    'lastnail: expected a step or a trace, found "none"',
    'lastnail: this is the start',
  ])
  expect(lines[0]).toBe(`    1  ${read()}`)
})

test('processes that do something else than was recorded are said to have diverged', async () => {
  const program = join(directory, 'adder.js')
  const before = readFileSync(program, 'utf8')
  writeFileSync(program, before.replace("'read'", "'look'"))
  try {
    const { exitCode, errors } = await debug('step')
    expect(exitCode).toBe(3)
    expect(errors).toMatch(/diverged at the start: expected, as recorded, the message/)
  } finally {
    writeFileSync(program, before)
  }
})

test('at a terminal it has a prompt, completes words, and opens an inspector', async () => {
  const command = join(import.meta.dirname, '../../../bin/lastnail.js')
  const terminal = execa('script', ['-qec', `node ${command} debug ${trace}`, '/dev/null'], {
    cwd: directory,
    reject: false,
  })
  let shown = ''
  terminal.stdout.on('data', data => {
    shown += data
  })
  const type = async (prompt: string, keys: string) => {
    await vi.waitFor(() => expect(shown).toContain(prompt), { timeout: 20_000 })
    shown = ''
    terminal.stdin.write(keys)
  }
  await type('0/3> ', 'ju\t')
  await type('jump ', '2\n')
  await type(`    2  ${value()}`, 'inspect store\n')
  await vi.waitFor(() => expect(shown).toContain('Enter to come back'), { timeout: 20_000 })
  const pid = /--target (\d+) --net node inspect/.exec(shown)![1]!
  const ask = "fetch('http://127.0.0.1:9229/json').then(async answer => console.log(await answer.text()))"
  const seen = await execa('nsenter', ['--target', pid, '--net', process.execPath, '-e', ask])
  expect(JSON.parse(seen.stdout)).toMatchObject([{ title: 'store.js', type: 'node' }])
  await type('Enter to come back', '\n')
  await type('2/3> ', 'qu\t')
  await type('quit ', '\n')
  expect((await terminal).exitCode).toBe(0)
})

test('no program can be run in a node that has ended: one line says so', async () => {
  writeFileSync(
    join(directory, 'ended.config.ts'),
    `import { defineSystem } from 'lastnail'
export default defineSystem({
  name: 'ended',
  nodes: { n1: { command: ['true'], exits: 'allowed' }, n2: { command: ['sleep', '100'] } },
})`,
  )
  await lastnail(directory, 'try', 'ended.config.ts', 'n2 timer', '--out', 'ended.trace')
  const { stdout, stderr } = await start(directory, ['debug', 'ended.trace'], { input: 'run n1 ls\n' })
  const printed = `${stdout}\n${stderr}`
  expect(printed).toMatch(/^lastnail: n1 is down$/m)
  expect(printed).not.toMatch(/defect|\n {4}at /)
})
