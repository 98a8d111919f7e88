import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { clusterOf, stdoutOf } from '../system.ts'
import { compile, hasCompiler, heldOutput, runOn } from './program.ts'

const c = test.skipIf(!hasCompiler)

c('what is not held is refused, and said once (needs cc)', async () => {
  const program = compile(`
    for (int i = 0; i < 2; i++) printf("%ld %m\\n", syscall(SYS_io_uring_setup, 1, 0));
    printf("%ld %m\\n", syscall(SYS_ptrace, 0, 0, 0, 0));
    printf("%ld %m\\n", syscall(400));
    printf("%ld %m\\n", syscall(0x40000000 | SYS_getpid));
    int on = 1, fd = socket(AF_INET, SOCK_DGRAM, 0);
    printf("%d %m\\n", setsockopt(fd, SOL_SOCKET, SO_TIMESTAMP, &on, sizeof on));
    struct timeval arrived;
    for (int i = 0x8906; i < 0x8908; i++) printf("%d %m\\n", ioctl(fd, i, &arrived));
    printf("%d %m\\n", socket(AF_VSOCK, SOCK_STREAM, 0));
    printf("%d %m\\n", socket(AF_BLUETOOTH, SOCK_STREAM | SOCK_CLOEXEC, 0));
    printf("%d\\n", socket(AF_UNIX, SOCK_STREAM, 0) > 0 && socket(AF_NETLINK, SOCK_RAW, 0) > 0);
    int called;
    asm volatile("int $0x80" : "=a"(called) : "a"(20) : "memory");
    printf("i386 getpid %d\\n", called);
  `)
  const { lines, notes } = await heldOutput([program])
  expect(lines).toEqual([
    '-1 Function not implemented',
    '-1 Function not implemented',
    '-1 Operation not permitted',
    '-1 Function not implemented',
    '-1 Function not implemented',
    '-1 Protocol not available',
    '-1 Inappropriate ioctl for device',
    '-1 Inappropriate ioctl for device',
    '-1 Address family not supported by protocol',
    '-1 Address family not supported by protocol',
    '1',
    'i386 getpid -38',
  ])
  expect(notes).toEqual([
    'n: io_uring_setup is refused with ENOSYS: its work continues in the kernel while all threads rest; libraries fall back to blocking calls',
    'n: ptrace is refused with EPERM: a process can have only one tracer, which is this tool, so debuggers, strace and LeakSanitizer fail in a node',
    'n: system call 400 is refused with ENOSYS: it is not in the table of system calls',
    'n: system calls of i386 and x32 are refused with ENOSYS: only those of x86-64 are held',
    'n: setsockopt(SO_TIMESTAMP) is refused with ENOPROTOOPT: the kernel stamps what arrives by its own clock',
    'n: ioctl(SIOCGSTAMP) is refused with ENOTTY: the kernel stamps what arrives by its own clock',
    'n: socket() of a family other than those of a network (AF_VSOCK, AF_BLUETOOTH, …) is refused with EAFNOSUPPORT: it would reach this machine or its host',
  ])
})

c('a bad pointer and a bad descriptor are errors of the program (needs cc)', async () => {
  const program = compile(`
    void *bad = (void *)8;
    struct timespec *time = bad;
    printf("%ld %m\\n", syscall(SYS_getrandom, bad, 8, 0));
    printf("%ld %m\\n", syscall(SYS_clock_gettime, 0, bad));
    printf("%ld %m\\n", syscall(SYS_gettimeofday, bad, 0));
    printf("%ld %m\\n", syscall(SYS_getrusage, 0, bad));
    printf("%ld %m\\n", syscall(SYS_nanosleep, bad, 0));
    printf("%ld %m\\n", syscall(SYS_ppoll, 0, 0, time, 0, 0));
    printf("%ld %m\\n", syscall(SYS_getrandom, -1L, 8, 0));
    int ends[2];
    pipe(ends);
    printf("%d %m\\n", fsync(77));
    printf("%d %m\\n", fdatasync(-1));
    printf("%d %m\\n", fsync(ends[0]));
    printf("%d\\n", fsync(open("/tmp/file", O_CREAT | O_RDWR, 0600)));
  `)
  expect((await heldOutput([program])).lines).toEqual([
    ...Array<string>(7).fill('-1 Bad address'),
    '-1 Bad file descriptor',
    '-1 Bad file descriptor',
    '-1 Invalid argument',
    '0',
  ])
})

c('no call with arguments that mean nothing ends the tool: the program goes on (needs cc)', async () => {
  // read and others wait for ever; what makes a process, ends one or kills is left out.
  const program = compile(`
    int left_out[] = {SYS_rt_sigreturn, SYS_clone, SYS_fork, SYS_vfork, SYS_exit, SYS_kill, SYS_tkill, SYS_exit_group, SYS_tgkill, 435 /* clone3 */};
    int answered = 0, told[2];
    pipe2(told, O_NONBLOCK);
    for (int number = 0; number < 475; number++) {
      int isLeftOut = 0;
      for (int i = 0; i < sizeof left_out / sizeof *left_out; i++) isLeftOut |= left_out[i] == number;
      if (isLeftOut) continue;
      pid_t child = fork();
      long wild = 1L << 62;
      if (child == 0) { setpgid(0, 0); syscall(number, wild, wild, wild, wild, wild, wild); write(told[1], "x", 1); _exit(0); }
      usleep(1000);
      kill(child, SIGKILL);
      waitpid(child, 0, 0);
      char byte;
      answered += read(told[0], &byte, 1) == 1;
    }
    printf("%d\\n", answered > 450);
  `)
  const cluster = clusterOf({ nodes: { n: { command: [program] } } })
  expect(await cluster.reset()).toEqual([])
  await runOn(cluster, 500)
  expect(stdoutOf(cluster, 'n')).toEqual(['1'])
})

c('Linux AIO is refused, and said: glibc’s own waits in threads (needs cc)', async () => {
  const program = compile(
    `
    unsigned long context = 0;
    printf("%ld %m\\n", syscall(SYS_io_setup, 8, &context));
    printf("%ld %m\\n", syscall(SYS_io_submit, context, 0, 0));
    int fd = open("/tmp/file", O_CREAT | O_RDWR, 0600);
    char bytes[] = "written";
    struct aiocb request = {.aio_fildes = fd, .aio_buf = bytes, .aio_nbytes = 7};
    const struct aiocb *all[] = {&request};
    aio_write(&request);
    aio_suspend(all, 1, 0);
    printf("%d %ld\\n", aio_error(&request), aio_return(&request));
  `,
    { functions: '#include <aio.h>', flags: ['-lrt'] },
  )
  const { lines, notes } = await heldOutput([program])
  expect(lines).toEqual(['-1 Function not implemented', '-1 Function not implemented', '0 7'])
  const why = 'its work continues in the kernel while all threads rest; libraries fall back to blocking calls'
  expect(notes).toEqual([`n: io_setup is refused with ENOSYS: ${why}`, `n: io_submit is refused with ENOSYS: ${why}`])
})

c('a program that traces another is told, and said (needs cc)', async () => {
  const program = compile(
    `
    pid_t child = fork();
    if (child == 0) for (;;) pause();
    printf("%ld %m\\n", ptrace(PTRACE_ATTACH, child, 0, 0));
    printf("%ld %m\\n", ptrace(PTRACE_TRACEME, 0, 0, 0));
    kill(child, SIGKILL);
    wait(0);
  `,
    { functions: '#include <sys/ptrace.h>' },
  )
  const { lines, notes } = await heldOutput([program])
  expect(lines).toEqual(['-1 Operation not permitted', '-1 Operation not permitted'])
  expect(notes).toEqual([expect.stringMatching(/^n: ptrace is refused with EPERM/)])
})

const debuggers = {
  strace: [['strace', 'true'], /strace: .*PTRACE_TRACEME.*: Operation not permitted/],
  gdb: [['gdb', '-nx', '--batch', '-ex', 'run', 'true'], /ptrace: Operation not permitted/],
} as const

test.each(Object.keys(debuggers) as (keyof typeof debuggers)[])(
  '%s in a node says itself what it may not',
  async name => {
    const [command, complaint] = debuggers[name]
    if (spawnSync(command[0], ['--version']).error) return
    const cluster = clusterOf({
      nodes: { n: { command: ['sh', '-c', `sleep 1; ${command.join(' ')} 2>&1; sleep 9`] } },
    })
    await cluster.reset()
    await cluster.execute(cluster.enabled()[0]!)
    expect(stdoutOf(cluster, 'n').join('\n')).toMatch(complaint)
    expect(cluster.notes()).toContainEqual(
      expect.stringMatching(/^n: ptrace is refused with EPERM: a process can have only one tracer/),
    )
  },
)

c('a process that was asked to be made untraced is held as any other (needs cc)', async () => {
  const asked = ['syscall(SYS_clone, 0x800000 | SIGCHLD, 0, 0, 0, 0)', 'syscall(SYS_clone3, &how, sizeof how)']
  const program = compile(`
    uint64_t how[11] = { 0x800000, [4] = SIGCHLD };
    ${asked.map(call => `if (${call} == 0) { sleep(2); printf("%.1f\\n", now()); exit(0); }`).join('\n')}
  `)
  const { lines, labels } = await heldOutput([program])
  expect(lines).toEqual(['3.0', '3.0'])
  expect(labels).toEqual(['n timer +1000ms', 'n timer +2000ms'])
})

c(
  'a program with LeakSanitizer says itself that it cannot look for leaks, unless it is told not to (needs cc)',
  async () => {
    const leaks = compile('exit(0);', { flags: ['-fsanitize=leak'] })
    const program = (options: string) => ['sh', '-c', `${options} ${leaks} 2>&1; echo $?; sleep 9`] as const
    const looking = await heldOutput([...program('')], 1)
    expect(looking.lines.join('\n')).toMatch(/LeakSanitizer does not work under ptrace/)
    expect(looking.notes).toEqual([expect.stringMatching(/^n: ptrace is refused with EPERM: .* LeakSanitizer fail/)])
    const notLooking = await heldOutput([...program('LSAN_OPTIONS=detect_leaks=0')], 1)
    expect(notLooking).toMatchObject({ lines: ['0'], notes: [] })
  },
)

test.skipIf(!hasCompiler).each(['address', 'thread', 'undefined'])(
  'a program with the sanitizer of %s, which maps terabytes for itself, is held and rewound (needs cc)',
  async sanitizer => {
    const program = compile('puts("slept"); sleep(1); puts("again");', {
      flags: [`-fsanitize=${sanitizer}`],
    })
    expect(await heldOutput([program], 2)).toEqual({
      lines: ['slept', 'again'],
      labels: ['n timer +1000ms', 'n timer +1000ms'],
      notes: [],
    })
  },
)

const isRoot = process.getuid?.() === 0

test.skipIf(!hasCompiler || !isRoot)(
  'a program that is setuid gains no right, and that is said (needs cc and root)',
  async () => {
    const nobody = 65_534
    const setuid = compile('printf("%d\\n", geteuid()); exit(0);')
    chownSync(setuid, nobody, nobody)
    chmodSync(setuid, 0o4755)
    const own = compile('printf("%d\\n", geteuid()); exit(0);')
    chmodSync(own, 0o4755)
    const program = compile('for (int i = 1; i < 3; i++) { if (fork() == 0) execl(argv[i], argv[i], 0); wait(0); }')
    const { lines, notes } = await heldOutput([program, own, setuid])
    expect(lines).toEqual(['0', '0'])
    expect(notes).toEqual([
      `n: ${setuid} is setuid or setgid: it runs with the rights of who executes it alone (docs/nodes.md)`,
    ])
  },
)

c('mounts and names are changed in a user namespace of the program’s own alone (needs cc)', async () => {
  const program = compile(`
    printf("%ld %m\\n", syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, 0));
    printf("%d %m\\n", sethostname("other", 5));
    printf("%d\\n", unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWUTS));
    printf("%ld\\n", syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, 0));
    printf("%d\\n", sethostname("other", 5));
  `)
  expect((await heldOutput([program])).lines).toEqual([
    '-1 Operation not permitted',
    '-1 Operation not permitted',
    ...['0', '0', '0'],
  ])
})

c('CPU time, memory and load follow from the clock of the node (needs cc)', async () => {
  const program = compile(`
    for (volatile long i = 0; i < 2000000; i++);
    struct rusage usage;
    struct tms ticks;
    struct sysinfo info;
    struct timespec cpu;
    getrusage(RUSAGE_SELF, &usage);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    printf("%ld.%06ld %ld %ld\\n", usage.ru_utime.tv_sec, (long)usage.ru_utime.tv_usec, usage.ru_maxrss, usage.ru_nvcsw);
    printf("%ld.%09ld\\n", cpu.tv_sec, cpu.tv_nsec);
    long now = times(&ticks);
    printf("%ld %ld %ld\\n", now, ticks.tms_utime, ticks.tms_cutime);
    sysinfo(&info);
    printf("%ld %ld %d %d\\n", info.uptime, info.loads[0], info.procs, info.freeram == info.totalram / 2);
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    printf("%d CPU, policy %ld\\n", CPU_COUNT(&set), syscall(SYS_sched_getscheduler, 0));
  `)
  expect((await heldOutput([program])).lines).toEqual([
    '1.000000 65536 0',
    '1.000000000',
    '100100 100 0',
    '1001 0 1 1',
    '1 CPU, policy 0',
  ])
})

c('timers: deleted ones do not fire, an alarm outlives an exec, CPU time ends nothing (needs cc)', async () => {
  const program = compile(
    `
    if (argc > 1) exit(1);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    struct itimerspec in_two = {.it_value = {2, 0}};
    timer_settime(timer, 0, &in_two, 0);
    timer_delete(timer);
    timer_t ofThread;
    timer_create(CLOCK_THREAD_CPUTIME_ID, 0, &ofThread);
    timer_settime(ofThread, 0, &in_two, 0);
    struct itimerval cpu = {.it_value = {0, 1}};
    printf("%d\\n", setitimer(ITIMER_PROF, &cpu, 0));
    signal(SIGXCPU, told);
    raise(SIGXCPU);
    alarm(3);
    execl("/bin/sh", "sh", "-c", "trap 'echo alarm' ALRM; sleep 10 & wait; echo over; wait", 0);
  `,
    { functions: 'static void told(int number) { printf("signal %d\\n", number); }' },
  )
  const { lines, labels } = await heldOutput([program])
  expect(labels).toEqual(['n timer +1000ms', 'n timer +3000ms', 'n timer +7000ms'])
  expect(lines).toEqual(['0', 'signal 24', 'alarm', 'over'])
})

c('what is no time, and what is no timer any more, the kernel refuses (needs cc)', async () => {
  const program = compile(`
    struct timespec none[] = {{-1, 0}, {0, -1}, {0, 1000000000}};
    sigset_t signals;
    sigemptyset(&signals);
    int word = 0, fd = timerfd_create(CLOCK_MONOTONIC, 0);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    #define SAY(call) errno = 0, call, printf("%d ", errno)
    for (int i = 0; i < 3; i++) {
      struct timespec time = none[i];
      struct itimerspec setting = {.it_value = time};
      struct itimerval alarm = {.it_value = {time.tv_sec, time.tv_nsec == 1000000000 ? 1000000 : time.tv_nsec}};
      SAY(nanosleep(&time, 0));
      SAY(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, 0));
      SAY(syscall(SYS_pselect6, 0, 0, 0, 0, &time, 0));
      SAY(syscall(SYS_rt_sigtimedwait, &signals, 0, &time, 8));
      SAY(syscall(SYS_futex, &word, 0, 0, &time, 0, 0));
      SAY(timerfd_settime(fd, 0, &setting, 0));
      SAY(setitimer(ITIMER_REAL, &alarm, 0));
      SAY(timer_settime(timer, 0, &setting, 0));
    }
    struct itimerspec two = {.it_value = {2, 0}};
    timer_delete(timer);
    SAY(timer_settime(timer, 0, &two, 0));
    SAY(timer_gettime(timer, &two));
    SAY(syscall(SYS_clock_nanosleep, 10, 0, &two.it_value, 0));
    printf("\\n");
  `)
  const { lines, labels } = await heldOutput([program])
  expect(lines).toEqual([Array<string>(27).fill('22').join(' ')])
  expect(labels).toEqual(['n timer +1000ms'])
})

c('a loop that waits for the clock ends, whatever it reads it by (needs cc)', async () => {
  const program = compile(
    `
    double begun = now();
    while (now() < begun + 0.05);
    printf("vdso %d\\n", now() < begun + 0.06);
    begun = now();
    struct timespec t;
    do syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t); while (now() < begun + 0.005);
    printf("call %d\\n", now() < begun + 0.006);
    unsigned long first = ticks();
    while (ticks() < first + 2000000);
    printf("counter %d\\n", ticks() < first + 2200000);
    begun = now();
    while (now() < begun + 2) if (go) break;
    printf("%g\\n", now());
  `,
    {
      functions: `
        #include <x86intrin.h>
        static int go;
        static unsigned long ticks(void) { return __rdtsc(); }`,
    },
  )
  const { lines } = await heldOutput([program])
  expect(lines.slice(0, 3)).toEqual(['vdso 1', 'call 1', 'counter 1'])
})

c('a program that reads the clock often, and does not wait for it, has no time pass (needs cc)', async () => {
  const program = compile(`
    double begun = now();
    for (int i = 0; i < 100000; i++) now();
    printf("%g\\n", now() - begun);
  `)
  expect((await heldOutput([program])).lines).toEqual(['0'])
})

test.skipIf(!existsSync('/usr/bin/musl-gcc') || !hasCompiler)(
  'a static program of musl is held alike (needs cc and musl-gcc)',
  async () => {
    const program = compile('struct timespec t = {2, 0}; nanosleep(&t, 0); printf("%g\\n", now());')
    execFileSync('musl-gcc', ['-static', '-O1', '-o', `${program}-musl`, `${program}.c`])
    expect((await heldOutput([`${program}-musl`])).lines).toEqual(['3'])
  },
)

c('half of a file system is free, whatever is written to it (needs cc)', async () => {
  const program = compile(
    `
    int fd = open("written", O_CREAT | O_WRONLY, 0600);
    static char bytes[1 << 20];
    for (int i = 0; i < 3; i++) {
      struct statfs now;
      printf("%d %d ", statfs(".", &now), statfs("nowhere", &now));
      fstatfs(fd, &now);
      printf("%d %d %d\\n", now.f_bfree == now.f_blocks / 2, now.f_bavail == now.f_bfree, now.f_ffree == now.f_files / 2);
      write(fd, bytes, sizeof bytes);
    }
    struct statfs proc;
    statfs("/proc", &proc);
    printf("%lu %lu\\n", proc.f_blocks, proc.f_bfree);
  `,
    { functions: '#include <sys/vfs.h>' },
  )
  const { lines } = await heldOutput([program])
  expect(lines).toEqual(['0 -1 1 1 1', '0 -1 1 1 1', '0 -1 1 1 1', '0 0'])
})
