import { constants, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { systemCalls, type Treatment } from '../../../harness/hold/calls/system-calls.ts'
import { filterOf } from '../../../harness/hold/filter.ts'
import { treatments } from '../../../harness/hold/filtered.ts'
import { syscallNumber } from '../../../linux/syscall-number.ts'

const titles: Record<Treatment['kind'], string> = {
  held: 'Held: answered or changed by the tool',
  native: 'Native: made by the kernel as they are, and repeatable',
  ignored: 'Ignored: they succeed and do nothing',
  refused: 'Refused: they fail, and the verdict’s notes say so',
}

const conditions: Record<string, string> = {
  always: '',
  positive: 'with a finite time-out',
  given: 'with a time-out',
  unflagged: 'where it is opened for reading alone',
  elsewhere: 'where a library has not looked whether a file was written since the tool began',
  code: 'where a file is mapped to be executed',
  futexWait: 'waits with a time-out',
  option: 'those options alone',
}

const describe = (treatment: Treatment): string => {
  if (treatment.kind === 'refused') return `${treatment.error}: ${treatment.why}`
  if (treatment.kind !== 'held') return treatment.why
  const condition = conditions[treatment.when.when]
  return condition ? `${treatment.why} (${condition})` : treatment.why
}

const document = (): string => {
  const lines = [
    '# System calls of a node',
    '',
    'What becomes of each system call of x86-64 in a held process. Those of i386 and x32, and all that are not listed here,',
    'fail with ENOSYS. What is refused is said in the verdict’s notes, once for each call and node.',
    'This page is made from `harness/hold/calls/system-calls.ts`: `npx vitest run test/harness/held/table.test.ts -u`.',
  ]
  for (const [kind, title] of Object.entries(titles)) {
    const groups = new Map<string, string[]>()
    for (const [name, treatment] of Object.entries(systemCalls)) {
      if (treatment.kind !== kind) continue
      const why = describe(treatment)
      groups.set(why, [...(groups.get(why) ?? []), `\`${name}\``])
    }
    lines.push('', `## ${title}`, '')
    for (const [why, names] of groups) lines.push(`- ${why}: ${names.join(', ')}`)
  }
  return `${lines.join('\n')}\n`
}

test('docs/system-calls.md says what the table says', async () => {
  await expect(document()).toMatchFileSnapshot('../../../docs/system-calls.md')
})

test('the table has every system call of this machine’s headers', () => {
  const path = '/usr/include/x86_64-linux-gnu/asm/unistd_64.h'
  const header = (() => {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      return ''
    }
  })()
  const lacking = [...header.matchAll(/__NR_(\w+) (\d+)/g)].filter(
    ([, name, number]) => (syscallNumber as Record<string, number>)[name!] !== Number(number),
  )
  expect(lacking.map(([, name]) => name)).toEqual([])
})

const x86_64 = 0xc000003e
const allowed = 0x7fff0000
const traced = 0x7ff00000
const failed = 0x00050000
const trapped = 0x00030000

const filterProgram = filterOf({ writes: false, calls: false, faults: false })

/** What the filter answers, as the kernel would execute it (linux/filter.h), and how many instructions that takes. */
const run = (number: number, args: readonly number[] = [], arch = x86_64) => {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(number >>> 0, 0)
  data.writeUInt32LE(arch, 4)
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + index * 8)
  let accumulator = 0
  let steps = 0
  for (let at = 0; ; at++) {
    steps += 1
    const [code, jt, jf] = [filterProgram.readUInt16LE(at * 8), filterProgram[at * 8 + 2]!, filterProgram[at * 8 + 3]!]
    const k = filterProgram.readUInt32LE(at * 8 + 4)
    if (code === 0x06) return { action: (k & 0xffff0000) >>> 0, steps }
    if (code === 0x20) accumulator = data.readUInt32LE(k)
    else if (code === 0x54) accumulator = (accumulator & k) >>> 0
    else if (code === 0x05) at += k
    else if (code === 0x15) at += accumulator === k ? jt : jf
    else if (code === 0x35) at += accumulator >= k ? jt : jf
    else if (code === 0x45) at += (accumulator & k) >>> 0 ? jt : jf
    else throw new Error(`instruction 0x${code.toString(16)}`)
  }
}

test('the filter does with every number what the table says', () => {
  const expected: Record<Treatment['kind'], number> = {
    native: allowed,
    ignored: failed,
    refused: traced,
    held: traced,
  }
  const always = Object.entries(systemCalls).filter(
    ([, row]) => row.kind !== 'held' || ['always', 'elsewhere'].includes(row.when.when),
  )
  expect(always.length).toBeGreaterThan(340)
  for (const [name, row] of always) {
    const { action } = run(syscallNumber[name as keyof typeof syscallNumber])
    expect(`${name} ${action.toString(16)}`).toBe(`${name} ${expected[row.kind].toString(16)}`)
  }
  expect(run(400).action).toBe(traced)
  expect(run(2000).action).toBe(traced)
  expect(run(39, [], 0x40000003).action).toBe(trapped)
  expect(run(0x40000000 + 39).action).toBe(trapped)
  // No call has this number. The tool gives it to a call that it takes back.
  expect(run(-1).action).toBe(allowed)
})

test('waits stop only with a finite time-out, options only where they tell times or leave something', () => {
  const { epoll_wait, ppoll, futex, setsockopt, getsockopt, prctl, fcntl } = syscallNumber
  const actions = [
    run(epoll_wait, [3, 0, 1, 100]),
    run(epoll_wait, [3, 0, 1, 0]),
    run(epoll_wait, [3, 0, 1, -1]),
    run(ppoll, [0, 0, 2 ** 40]),
    run(ppoll, [0, 0, 0]),
    run(futex, [1, 128, 0, 99]),
    run(futex, [1, 129, 0, 99]),
    run(futex, [1, 128, 0, 0]),
    run(setsockopt, [3, 1, 20]),
    run(setsockopt, [3, 6, 20]),
    run(setsockopt, [3, 1, 2]),
    run(setsockopt, [3, 1, 29]),
    run(getsockopt, [3, 1, 66]),
    run(getsockopt, [3, 1, 29]),
    run(setsockopt, [3, 0, 35]),
    run(setsockopt, [3, 0, 2]),
    run(prctl, [36]),
    run(prctl, [15]),
    run(fcntl, [3, 1031]),
    run(fcntl, [3, 4]),
  ].map(({ action }) => action === traced)
  expect(actions).toEqual([
    ...[true, false, false],
    ...[true, false],
    ...[true, false, false],
    ...[true, false, false, true],
    ...[true, false],
    ...[true, false, true, false, true, false],
  ])
})

test('opening stops for reading alone', () => {
  const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_DIRECTORY, O_NOFOLLOW } = constants
  const flags = [O_RDONLY, O_RDONLY | O_NOFOLLOW, O_WRONLY | O_CREAT, O_RDWR, O_RDONLY | O_DIRECTORY]
  const actions = flags.map(each => run(syscallNumber.openat, [-100, 4096, each]).action === traced)
  expect(actions).toEqual([true, true, false, false, false])
  expect(flags.map(each => run(syscallNumber.open, [4096, each]).action === traced)).toEqual(actions)
})

test('mapping stops for code of a file alone, and not for what is shared', () => {
  const [privately, shared, anonymous] = [2, 1, 34]
  const actions = [
    [5, privately],
    [1, privately],
    [5, shared],
    [7, anonymous],
  ].map(([protection, flags]) => run(syscallNumber.mmap, [0, 4096, protection!, flags!, 3, 0]).action === traced)
  expect(actions).toEqual([true, false, false, false])
})

test('no call takes more than forty instructions', () => {
  const most = Math.max(...Array.from({ length: 500 }, (_, number) => run(number, [1, 1, 1, 1, 1, 1]).steps))
  expect(most).toBeLessThan(40)
})

test('each held call has a treatment, and no other call has one', () => {
  const held = Object.keys(systemCalls).filter(name => systemCalls[name as keyof typeof systemCalls].kind === 'held')
  // The tracer keeps a thread that is about to end.
  expect(held.filter(name => !(name in treatments))).toEqual(['exit', 'exit_group'])
  // Only where a power failure may come does the tracer see these.
  expect(Object.keys(treatments).filter(name => !held.includes(name))).toEqual(['msync', 'sync'])
})
