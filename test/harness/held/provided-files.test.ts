import { expect, test } from 'vitest'
import { compile, hasCompiler, heldOutput } from './program.ts'

const python = (program: string) => heldOutput(['python3', '-c', program])

test('a file of /proc that stays open shows what the latest opening found, and a rewound node what it was', async () => {
  const { lines } = await python(`
import os, time
kept = os.open('/proc/uptime', os.O_RDONLY)
for _ in range(3):
    time.sleep(1)
    before = os.pread(kept, 99, 0).split()[0].decode()
    with open('/proc/uptime') as file: now = file.read().split()[0]
    print(before, now, flush=True)
time.sleep(1000)
`)
  expect(lines).toEqual(['1000.00 1001.00', '1001.00 1002.00', '1002.00 1003.00'])
})

test('any number of files are shown', async () => {
  const { lines } = await python(`
import hashlib, os, time
names = ['stat', 'statm', 'status', 'io', 'schedstat', 'net/dev', 'net/tcp', 'net/udp', 'net/unix', 'net/snmp', 'net/netstat', 'net/sockstat']
paths = [f'/proc/{whose}/{name}' for whose in ['self', 'thread-self', '1', 'self/task/1'] for name in names]
def contents():
    found = []
    for path in paths:
        try: found.append(open(path).read())
        except FileNotFoundError: pass
    return len(found), hashlib.sha256('\\n'.join(found).encode()).hexdigest()
for _ in range(3):
    time.sleep(1)
    print(*contents(), flush=True)
time.sleep(1000)
`)
  expect(lines).toHaveLength(3)
  expect(Number(lines[0]!.split(' ')[0])).toBeGreaterThan(40)
  expect(new Set(lines).size).toBe(3)
})

test('the most memory that a process ever had is what it has now, so a rewound one shows the same', async () => {
  const { lines } = await python(`
import time
def peak():
    with open('/proc/self/status') as file: shown = dict(line.split(':', 1) for line in file)
    print(shown['VmPeak'] == shown['VmSize'], shown['VmPeak'].strip(), flush=True)
time.sleep(1)
peak()
much = [0] * 10_000_000
del much
peak()
time.sleep(1000)
`)
  expect(lines.map(line => line.split(' ')[0])).toEqual(['True', 'True'])
})

test.skipIf(!hasCompiler)(
  'opening such a file changes no register of the program, nor its stack (needs cc)',
  async () => {
    const program = compile(`
    const char *path = "/proc/self/stat", *after = path;
    long fd;
    register long r12 __asm__("r12");
    register long r8 __asm__("r8") = 8;
    register long r9 __asm__("r9") = 9;
    register long r10 __asm__("r10") = 10;
    __asm__ volatile("mov %%rsp, %%r12\\n\\tsyscall\\n\\tsub %%rsp, %%r12"
      : "=a"(fd), "+S"(after), "=r"(r12), "+r"(r8), "+r"(r9), "+r"(r10)
      : "a"(SYS_openat), "D"(-100L), "d"((long)O_RDONLY)
      : "rcx", "r11", "memory");
    long moved = r12, eight = r8, nine = r9, ten = r10;
    char text[8] = "";
    read(fd, text, 3);
    printf("%d %ld %ld %ld %ld %s\\n", after == path, moved, eight, nine, ten, text);
  `)
    expect((await heldOutput([program])).lines).toEqual(['1 0 8 9 10 1 ('])
  },
)
