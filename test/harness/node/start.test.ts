import { expect, test } from 'vitest'
import { clusterOf, labelsOf, stdoutOf } from '../system.ts'

test('a start is over when the ports are open, also where the program sleeps on its way', async () => {
  const listen = 'setTimeout(() => require("net").createServer().listen(7000, () => console.log("up")), 5000)'
  const cluster = clusterOf({ nodes: { n: { command: ['node', '-e', listen], listens: [7000] } } })
  expect(await cluster.reset()).toEqual([])
  expect(stdoutOf(cluster, 'n')).toEqual(['up'])
})

test('a port that is not open after a minute of the node’s time is a finding', async () => {
  const tick = 'console.log("waiting"); setInterval(() => undefined, 20_000)'
  const cluster = clusterOf({ nodes: { n: { command: ['node', '-e', tick], listens: [7000] } } })
  const message = 'n is idle and has not opened port 7000: it listens on no TCP port; its last output: "waiting"'
  expect(await cluster.reset()).toMatchObject([{ kind: 'crash', node: 'n', message }])
})

test('a start through shells that fork and exec many times is waited for to its end', async () => {
  const script = 'for i in $(seq 20); do x=$(echo a | cat); y=$(sh -c "echo b"); done; echo "$x$y"; exec sleep infinity'
  const cluster = clusterOf({ nodes: { n: { command: ['bash', '-c', script] } } })
  for (let again = 0; again < 5; again++) {
    expect(await cluster.reset()).toEqual([])
    expect(stdoutOf(cluster, 'n')).toEqual(['ab'])
  }
})

test('a process that a signal has stopped is idle', async () => {
  const script = 'cat & kill -STOP $!; echo stopped; exec sleep infinity'
  const cluster = clusterOf({ nodes: { n: { command: ['bash', '-c', script] } } })
  expect(await cluster.reset()).toEqual([])
  expect(stdoutOf(cluster, 'n')).toEqual(['stopped'])
})

test('the timestamp counter shows the node’s time', async () => {
  const cluster = clusterOf(
    { nodes: { p: { command: ['/usr/bin/python3', 'counter.py'] } } },
    {
      'counter.py': `
import ctypes, mmap, time
# rdtsc; shl rdx, 32; or rax, rdx; ret
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex('0f31' '48c1e220' '4809d0' 'c3'))
read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
first = read()
print(read() - first, open('/sys/devices/system/cpu/cpu0/tsc_freq_khz').read().strip(), flush=True)
time.sleep(2.5)
print(read() - first, flush=True)
time.sleep(1e9)
`,
    },
  )
  expect(await cluster.reset()).toEqual([])
  expect(labelsOf(cluster)).toEqual(['p timer +2500ms'])
  await cluster.execute(cluster.enabled()[0]!)
  expect(stdoutOf(cluster, 'p')).toEqual(['0 1000000', '2500000000'])
})
