import { closeSync, openSync } from 'node:fs'
import { expect, test } from 'vitest'
import { clusterOf, stdoutOf, take } from '../system.ts'
import { compile, hasCompiler, heldOutput } from './program.ts'

const show = `
static void show(const char *path) {
  char text[8192];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) { printf("%s: %m\\n", path); return; }
  ssize_t length = read(fd, text, sizeof text - 1);
  text[length] = 0;
  printf("%s", text);
  close(fd);
}
`

test.skipIf(!hasCompiler)('/proc tells of the node: its time, its CPU, its memory (needs cc)', async () => {
  const program = compile(
    `
    show("/proc/uptime");
    show("/proc/loadavg");
    show("/proc/stat");
    if (fork() == 0) {
      sleep(2);
      for (volatile long i = 0; i < 3000000; i++);
      char path[40];
      sprintf(path, "/proc/%d/stat", getpid());
      show(path);
      show("/proc/self/stat");
      show("/proc/thread-self/status");
      show("/proc/self/statm");
      show("/proc/1/stat");
      show("/proc/uptime");
      exit(0);
    }
    wait(0);
    show("/proc/self/status");
    printf("%s %m\\n", open("/proc/77/stat", O_RDONLY) < 0 ? "none" : "some");
  `,
    { functions: show },
  )
  const { lines } = await heldOutput([program])
  expect(lines.slice(0, 6)).toEqual([
    '1001.00 1000.00',
    '0.00 0.00 0.00 1/1 1',
    'cpu  100 0 0 100000 0 0 0 0 0 0',
    'cpu0 100 0 0 100000 0 0 0 0 0 0',
    'intr 0',
    'ctxt 0',
  ])
  const [byNumber, bySelf, first] = lines.filter(line => /^\d+ \(/.test(line)).map(line => line.split(' '))
  expect(byNumber).toEqual(bySelf)
  // state, times, priority, time of its start, pages
  expect([2, 13, 14, 17, 21, 23].map(field => bySelf![field])).toEqual(['R', '300', '0', '20', '100100', '16384'])
  expect([2, 13, 21].map(field => first![field])).toEqual(['S', '300', '100000'])
  expect(lines).toContain('1003.00 1000.00')
  expect(lines.at(-1)).toBe('none No such file or directory')
})

test.skipIf(!hasCompiler)(
  'the size of a table of descriptors follows from those that are open (needs cc)',
  async () => {
    const program = compile(
      `
    for (int i = 0; i < 4; i++) {
      FILE *status = fopen("/proc/self/status", "r");
      char line[200];
      while (fgets(line, sizeof line, status)) if (!strncmp(line, "FDSize", 6)) printf("%s", line);
      fclose(status);
      if (i == 0) dup2(1, 100);
      if (i == 1) dup2(1, 128);
      if (i == 2) close(100), close(128);
    }
  `,
    )
    const ofThisProcess = Array.from({ length: 100 }, () => openSync('/dev/null', 'r'))
    const { lines } = await heldOutput([program]).finally(() => {
      for (const file of ofThisProcess) closeSync(file)
    })
    expect(lines).toEqual(['64', '128', '256', '64'].map(size => `FDSize:\t${size}`))
  },
)

test.skipIf(!hasCompiler)('/proc tells of the node however a path to it is written (needs cc)', async () => {
  const program = compile(
    `
    int proc = open("/proc", O_RDONLY | O_DIRECTORY), own = open("/proc/self", O_PATH);
    struct open_how how = { .flags = O_RDONLY };
    struct open_how beneath = { .flags = O_RDONLY, .resolve = RESOLVE_BENEATH };
    shown(openat(proc, "uptime", O_RDONLY));
    shown(openat(own, "../uptime", O_RDONLY));
    shown(openat(own, "io", O_RDONLY));
    shown(open("//proc/./self/../uptime", O_RDONLY));
    shown(syscall(SYS_openat2, -100, "/proc/uptime", &how, sizeof how));
    shown(syscall(SYS_openat2, proc, "uptime", &beneath, sizeof beneath));
    chdir("/proc");
    shown(open("uptime", O_RDONLY));
    shown(open("self/schedstat", O_RDONLY));
    printf("%d\\n", openat(77, "uptime", O_RDONLY));
    errno = 0;
    syscall(SYS_openat2, -100, "/proc/uptime", (void *)8, sizeof how);
    printf("%m\\n");
    mkdir("/tmp/there", 0755);
    mkdir("/tmp/there/stat.d", 0755);
    int made = open("/tmp/there/stat", O_WRONLY | O_CREAT, 0644);
    write(made, "own\\n", 4);
    chdir("/tmp/there/stat.d");
    shown(open("/proc/self/cwd/../stat", O_RDONLY));
    symlink("/tmp/there/stat.d", "/tmp/away");
    shown(openat(-100, "/tmp/away/../stat", O_RDONLY));
    shown(open("/tmp/there/../../proc/uptime", O_RDONLY));
    shown(open("/proc/self/task/../io", O_RDONLY));
  `,
    {
      functions: `
#include <linux/openat2.h>
static void shown(int fd) {
  char text[99] = "none";
  if (fd >= 0) text[read(fd, text, 98)] = 0;
  puts(strtok(text, "\\n"));
}`,
    },
  )
  const uptime = '1001.00 1000.00'
  expect((await heldOutput([program])).lines).toEqual([
    uptime,
    uptime,
    'rchar: 0',
    uptime,
    uptime,
    uptime,
    uptime,
    '0 0 0',
    '-1',
    'Bad address',
    'own',
    'own',
    uptime,
    'rchar: 0',
  ])
})

test('memory and ids of the kernel are of the node', async () => {
  const { lines } = await heldOutput([
    'sh',
    '-c',
    `sleep 1; cd /proc; grep -E "^(MemTotal|MemFree|MemAvailable|Cached)" /proc/meminfo; grep -c processor /proc/cpuinfo
     cat /proc/sys/kernel/random/uuid /proc/sys/kernel/random/uuid /proc/sys/kernel/random/boot_id; sleep 9`,
  ])
  const [total, free, available, cached, cpus, ...ids] = lines
  expect(free!.split(/ +/)[1]).toBe(String(Math.floor(Number(total!.split(/ +/)[1]) / 2)))
  expect([available!.split(/ +/)[1], cached, cpus]).toEqual([
    free!.split(/ +/)[1],
    expect.stringMatching(/ 0 kB$/),
    '1',
  ])
  expect(new Set(ids).size).toBe(3)
  for (const id of ids) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
})

test('what the kernel counts of this machine and its network is not seen, and sockets are shown', async () => {
  const files = ['netstat', 'snmp', 'snmp6', 'dev', 'sockstat', 'tcp', 'udp', 'unix', 'netlink'].map(
    name => `net/${name}`,
  )
  const others = [
    'interrupts',
    'softirqs',
    'timer_list',
    'vmstat',
    'diskstats',
    'pressure/cpu',
    'self/io',
    'self/schedstat',
  ]
  const { lines } = await heldOutput([
    'python3',
    '-c',
    `
import socket, time
time.sleep(1)
serving = socket.create_server(('127.0.0.1', 8000))
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(('0.0.0.0', 9000))
path = socket.socket(socket.AF_UNIX)
path.bind('/tmp/here')
calling = socket.create_connection(('127.0.0.1', 8000))
calling.send(b'hello')
answering, _ = serving.accept()
answering.recv(5)
for name in '${[...files, ...others].join(' ')}'.split():
    try: print(name, open('/proc/' + name).read())
    except FileNotFoundError: pass
time.sleep(1000)
`,
  ])
  const shown = lines.join('\n')
  expect(shown).toMatch(/: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000 {5}0 {8}0 0$/m)
  expect(shown).toMatch(/: 0100007F:1F40 0100007F:\w{4} 01 /)
  expect(shown).toMatch(/: 00000000:2328 00000000:0000 07 /)
  expect(shown).toMatch(/^0000000000000000: 00000002 00000000 00000000 0001 01 0 \/tmp\/here$/m)
  expect(shown).toMatch(/^ +lo: +0 +0 +0 +0 /m)
  expect(shown).toMatch(/^Tcp: 1 200 120000 -1 0 0 0 /m)
  expect(shown).toMatch(/^vmstat nr_free_pages 0$/m)
  expect(shown).toMatch(/^self\/io rchar: 0$/m)
})

test('each opening of /dev/urandom reads other bytes, and a rewound node reads the same', async () => {
  const read = 'head -c 8 /dev/urandom | od -An -tx1'
  const cluster = clusterOf({ nodes: { n: { command: ['sh', '-c', `${read}; ${read}; sleep 1; ${read}; sleep 9`] } } })
  const execute = async () => {
    expect(await cluster.reset()).toEqual([])
    await take(cluster, 'n timer +1000ms')
    return stdoutOf(cluster, 'n')
  }
  const drawn = await execute()
  expect(new Set(drawn).size).toBe(3)
  expect(await execute()).toEqual(drawn)
  expect(await execute()).toEqual(drawn)
})
