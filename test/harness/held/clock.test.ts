import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster } from '../../../harness/cluster.ts'
import { has } from '../../has.ts'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

/** Fires the node's timers one by one until none is left or it has ended. */
const fireAll = async (cluster: Cluster): Promise<string[]> => {
  const fired: string[] = []
  for (let label = labelsOf(cluster)[0]; label !== undefined; label = labelsOf(cluster)[0]) {
    fired.push(label)
    await cluster.execute(cluster.enabled()[0]!)
  }
  return fired
}

const start = Date.UTC(2026, 0, 1)

test('node: the clock stands still until a timer fires, and shows its instant then', async () => {
  const cluster = clusterOf(
    { nodes: { n1: { command: ['node', 'timers.js'] } } },
    {
      'timers.js': `
        const begun = Date.now()
        for (let i = 0; i < 1e7; i++);
        console.log(begun, Date.now() - begun, performance.timeOrigin > 0)
        setTimeout(() => console.log('late', Date.now()), 60_000)
        setTimeout(() => console.log('early', Date.now()), 100)
        let ticks = 0
        const ticker = setInterval(() => { console.log('tick', Date.now()); if (++ticks === 3) clearInterval(ticker) }, 1000)
      `,
    },
  )
  expect(await cluster.reset()).toEqual([])
  expect(labelsOf(cluster)).toEqual(['n1 timer +100ms'])
  const fired = await fireAll(cluster)
  expect(fired).toEqual([
    'n1 timer +100ms',
    'n1 timer +900ms',
    'n1 timer +1000ms',
    'n1 timer +1000ms',
    'n1 timer +57000ms',
  ])
  expect(stdoutOf(cluster, 'n1')).toEqual([
    `${start} 0 true`,
    `early ${start + 100}`,
    `tick ${start + 1000}`,
    `tick ${start + 2000}`,
    `tick ${start + 3000}`,
    `late ${start + 60_000}`,
  ])
})

test('python: asyncio, threads, signals, select and children wait on the same clock', async () => {
  const cluster = clusterOf(
    { nodes: { p: { command: ['python3', 'waits.py'] } } },
    {
      'waits.py': `
import asyncio, os, select, signal, threading, time
begun = time.time()
def show(what): print(what, round(time.time() - begun, 3), flush=True)
def sleeper(n):
    for i in range(2):
        time.sleep(0.5 * n)
        show(f'thread {n}.{i}')
threads = [threading.Thread(target=sleeper, args=(n,)) for n in (1, 3)]
for t in threads: t.start()
signal.signal(signal.SIGALRM, lambda *_: show('alarm'))
signal.setitimer(signal.ITIMER_REAL, 1.25)
async def main():
    async def wait(n):
        await asyncio.sleep(n)
        show(f'asyncio {n}')
    await asyncio.gather(wait(0.25), wait(2))
asyncio.run(main())
for t in threads: t.join()
select.select([], [], [], 1)
show('select')
child = os.fork()
if child == 0:
    time.sleep(1)
    os._exit(7)
show(f'child {os.waitpid(child, 0)[1] >> 8}')
`,
    },
  )
  expect(await cluster.reset()).toEqual([])
  await fireAll(cluster)
  expect(stdoutOf(cluster, 'p')).toEqual([
    'asyncio 0.25 0.25',
    'thread 1.0 0.5',
    'thread 1.1 1.0',
    'alarm 1.25',
    'thread 3.0 1.5',
    'asyncio 2 2.0',
    'thread 3.1 3.0',
    'select 4.0',
    'child 7 5.0',
  ])
})

const goProgram = `package main
import ("fmt"; "os"; "time")
func main() {
	if len(os.Args) > 1 {
		time.Sleep(100 * time.Millisecond)
		os.Exit(3)
	}
	begun := time.Now()
	done := make(chan bool)
	for i := 1; i <= 2; i++ {
		go func(i int) {
			time.Sleep(time.Duration(i) * 100 * time.Millisecond)
			fmt.Println("slept", time.Since(begun).Milliseconds())
			done <- true
		}(i)
	}
	<-done
	<-done
	ticks := time.NewTicker(time.Second)
	for i := 0; i < 2; i++ {
		<-ticks.C
		fmt.Println("tick", time.Since(begun).Milliseconds())
	}
}`

describe.skipIf(!has('go'))('a statically linked Go program (needs golang-go)', () => {
  let directory: string
  let program: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'lastnail-test-'))
    program = join(directory, 'timers')
    writeFileSync(`${program}.go`, goProgram)
    execFileSync('go', ['build', '-o', program, `${program}.go`], {
      env: { ...process.env, CGO_ENABLED: '0', GOCACHE: join(directory, 'cache'), GO111MODULE: 'off' },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }, 120_000)
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  test('a statically linked Go program sleeps by its clock', async () => {
    const cluster = clusterOf({ nodes: { g: { command: [program] } } })
    expect(await cluster.reset()).toEqual([])
    await fireAll(cluster)
    expect(stdoutOf(cluster, 'g')).toEqual(['slept 100', 'slept 200', 'tick 1200', 'tick 2200'])
  })

  // Go's monitor thread naps, is killed in that, and may be the last to end, which takes the kernel some time.
  test('ends within the step in which it exits', { timeout: 60_000 }, async () => {
    const cluster = clusterOf({ nodes: { g: { command: [program, 'exit'] } } }, {}, { rewind: false })
    for (let times = 0; times < 100; times++) {
      await cluster.reset()
      const { findings } = await take(cluster, 'g timer +100ms')
      expect(findings, `execution ${times}`).toMatchObject([{ kind: 'crash', node: 'g' }])
    }
  })
})

test('timers of the kernel: timerfd, alarm and timer_create go off when they are fired, not before', async () => {
  const cluster = clusterOf(
    { nodes: { c: { command: ['python3', 'timers.py'] } } },
    {
      'timers.py': `
import ctypes, os, signal, struct, time
libc = ctypes.CDLL(None)
begun = time.time()
def show(what): print(what, round(time.time() - begun, 3), flush=True)
fd = libc.timerfd_create(1, 0)
libc.timerfd_settime(fd, 0, struct.pack('qqqq', 2, 0, 1, 500000000), None)
for i in range(2): show(f'timerfd {struct.unpack("Q", os.read(fd, 8))[0]}')
os.close(fd)
signal.signal(signal.SIGALRM, lambda *_: show('alarm'))
signal.alarm(3)
signal.pause()
signal.signal(signal.SIGUSR1, lambda *_: show('timer'))
event = struct.pack('qii', 0, signal.SIGUSR1, 0) + bytes(48)
timer = ctypes.c_void_p()
libc.timer_create(1, event, ctypes.byref(timer))
libc.timer_settime(timer, 0, struct.pack('qqqq', 0, 0, 2, 0), None)
signal.pause()
`,
    },
  )
  expect(await cluster.reset()).toEqual([])
  expect(await fireAll(cluster)).toEqual(['c timer +1500ms', 'c timer +2000ms', 'c timer +3000ms', 'c timer +2000ms'])
  expect(stdoutOf(cluster, 'c')).toEqual(['timerfd 1 1.5', 'timerfd 1 3.5', 'alarm 6.5', 'timer 8.5'])
})
