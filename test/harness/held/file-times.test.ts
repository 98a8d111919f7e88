import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clusterOf, directoryWith, labelsOf, stdoutOf, take } from '../system.ts'
import { compile, hasCompiler, heldOutput } from './program.ts'

test.skipIf(!hasCompiler)('times of files are those of the node’s clock, by whatever call (needs cc)', async () => {
  const directory = directoryWith({ old: 'old' })
  utimesSync(join(directory, 'old'), 86_400, 86_400)
  const program = compile(
    `
    int fd = open("/tmp/written", O_CREAT | O_RDWR, 0600);
    write(fd, "x", 1);
    show("written");
    sleep(4);
    show("unchanged");
    write(fd, "y", 1);
    show("changed");
    sleep(2);
    struct timespec times[2] = {{5, 6}, {7, 8}};
    futimens(fd, times);
    show("set");
    futimens(fd, 0);
    show("touched");
    struct stat s;
    fstat(fd, &s);
    printf("fstat %ld %ld\\n", s.st_mtim.tv_sec - 1767225600, s.st_mtim.tv_nsec);
    s.st_mtim.tv_sec = 0;
    syscall(SYS_stat, "/tmp/written", &s);
    printf("stat by number %ld, process %ld\\n", s.st_mtim.tv_sec - 1767225600, syscall(SYS_getpid));
    stat("${join(directory, 'old')}", &s);
    printf("old %ld\\n", s.st_mtim.tv_sec);
    sleep(1);
    mkdir("/tmp/directory", 0700);
    stat("/tmp/directory", &s);
    printf("directory %ld\\n", s.st_ctim.tv_sec - 1767225600);
    fstat(1, &s);
    int age = time(0) - s.st_mtim.tv_sec;
    printf("output is %d old\\n", age);
  `,
    {
      functions: `
        #include <linux/stat.h>
        static void show(const char *what) {
          struct statx s;
          syscall(SYS_statx, AT_FDCWD, "/tmp/written", 0, STATX_ALL, &s);
          long first = 1767225600;
          printf("%s: born %lld, changed %lld, written %lld.%09u\\n", what, s.stx_btime.tv_sec - first,
            s.stx_ctime.tv_sec - first, s.stx_mtime.tv_sec < first ? s.stx_mtime.tv_sec : s.stx_mtime.tv_sec - first,
            s.stx_mtime.tv_nsec);
        }`,
    },
  )
  expect((await heldOutput([program])).lines).toEqual([
    'written: born 1, changed 1, written 1.000000000',
    'unchanged: born 1, changed 1, written 1.000000000',
    'changed: born 1, changed 5, written 5.000000000',
    'set: born 1, changed 7, written 7.000000008',
    'touched: born 1, changed 7, written 7.000000000',
    'fstat 7 0',
    'stat by number 7, process 1',
    'old 86400',
    'directory 8',
    'output is 0 old',
  ])
})

const lease = `
import os, time
path = 'lease'
if not os.path.exists(path): open(path, 'w').close()
print('age', time.time() - os.stat(path).st_mtime, flush=True)
while True:
  time.sleep(2)
  print('age', time.time() - os.stat(path).st_mtime, flush=True)
`

test('a lease by the age of a file expires, and goes on over a restart', async () => {
  const directory = directoryWith({ 'lease.py': lease })
  const cluster = clusterOf({
    nodes: { n: { command: ['python3', 'lease.py'], cwd: directory } },
    faults: { crash: 1 },
  })
  for (let execution = 0; execution < 2; execution++) {
    expect(await cluster.reset()).toEqual([])
    await take(cluster, 'n timer +2000ms')
    await take(cluster, 'n timer +2000ms')
    expect(stdoutOf(cluster, 'n')).toEqual(['age 0.0', 'age 2.0', 'age 4.0'])
    await take(cluster, labelsOf(cluster).find(label => label.includes('crash'))!)
    if (labelsOf(cluster).includes('restart n')) await take(cluster, 'restart n')
    await take(cluster, 'n timer +2000ms')
    expect(stdoutOf(cluster, 'n')).toEqual(['age 4.0', 'age 6.0'])
  }
})
