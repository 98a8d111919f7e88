import { expect, test } from 'vitest'
import { OwnCell } from '../../../checker/cells/cell.ts'
import { check } from '../../../checker/check.ts'
import { Budget } from '../../../checker/system/budget.ts'
import { eventually } from '../../../checker/system/property.ts'
import { startAfter } from '../../../checker/system/start.ts'
import { clusterOf, directoryWith } from '../system.ts'

const each = (statement: string) =>
  ['python3', '-uc', `import os, time\nwhile True: time.sleep(1); ${statement}`] as const
const honest = each(
  'print(time.time(), os.urandom(4), open("/dev/urandom", "rb").read(4), open("/proc/uptime").read())',
)
const options = { executions: 30, walkLength: 4, search: 'walk' } as const

test('an audit finds what a node hides between rewound executions: it has new processes from then on', async () => {
  const directory = directoryWith({})
  const hides = each(`f = open("${directory}/hidden", "a"); f.write("x"); print(f.tell()); f.close()`)
  const cluster = clusterOf({
    nodes: { hides: { command: [...hides], write: [directory] }, honest: { command: [...honest] } },
  })
  expect((await check(cluster, {}, options)).verdict).toBe('held')
  expect(cluster.notes()).toEqual([
    expect.stringMatching(
      /^hides: an execution was done in place and on new processes, and what it wrote was not the same in step \d \(hides timer/,
    ),
  ])
  // Both at first, both for the audit, and one for each execution that was left.
  expect(cluster.starts).toBeGreaterThan(5)
})

test('if nothing is hidden, processes are still rewound', async () => {
  const cluster = clusterOf({
    nodes: { a: { command: [...honest] }, b: { command: [...honest] } },
    faults: { crash: 1 },
  })
  const before = cluster.starts
  await check(cluster, {}, options)
  expect(cluster.notes()).toEqual([])
  expect(cluster.starts - before).toBeGreaterThanOrEqual(4)
})

test('an audit repeats an execution of which only the last walks bound delays', async () => {
  const says =
    'import socket, sys, time\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\nwhile True: time.sleep(1); s.sendto(b"hello", (sys.argv[1], 4000))'
  const hears =
    'import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.bind(("", 4000))\nwhile True: print(s.recv(9))'
  const cluster = clusterOf({
    nodes: { a: { command: ['python3', '-uc', says, '{{b.address}}'] }, b: { command: ['python3', '-uc', hears] } },
  })
  const cell = new OwnCell(cluster, { never: eventually(() => false) })
  const timer = 'a timer +1000ms'
  const walks = (seed: number) => [{ chooser: 'fair', seed, length: 6 }] as const
  for (let seed = 1; seed <= 14; seed++) {
    const untilLive = { properties: ['never'], delayMsMax: 1000, walks: walks(seed) }
    const { toLive } = await cell.perform(
      { start: startAfter([timer, timer, timer]), untilLive, surprises: [] },
      0,
      new Budget({}),
    )
    expect(toLive).toMatchObject({ begin: 3, isBound: true })
  }
  expect(cluster.notes()).toEqual([])
  await cell.end()
})
