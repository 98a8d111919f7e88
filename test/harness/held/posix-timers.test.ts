import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, lastnail } from '../../cli/lastnail.ts'
import { clusterOf, stdoutOf } from '../system.ts'
import { compile, hasCompiler, heldOutput, runOn } from './program.ts'

const c = test.skipIf(!hasCompiler)

const functions = `
#include <sys/epoll.h>
#include <linux/futex.h>
static volatile int fired;
static void on_signal(int number) { fired++; }
static timer_t timer;
static void make(int how) {
  struct sigevent event = {.sigev_notify = how, .sigev_signo = SIGUSR1};
  signal(SIGUSR1, on_signal);
  if (timer_create(CLOCK_MONOTONIC, &event, &timer)) printf("timer_create %m\\n");
}
static void set(long ms, long interval) {
  struct itimerspec setting = {{0, interval * 1000000}, {ms / 1000, ms % 1000 * 1000000}};
  fired = 0;
  timer_settime(timer, 0, &setting, 0);
}
static double began;
static void say(const char *what, long result) {
  printf("%s %ld %s, %d at %.0f\\n", what, result, result == -1 ? strerror(errno) : "", fired, (now() - began) * 1000);
}
`

c('the signal of a timer ends every kind of wait, and the rest of a sleep is told (needs cc)', async () => {
  const program = compile(
    `
    began = now();
    make(SIGEV_SIGNAL);
    struct timespec second = {1, 0}, left = {9, 9};
    struct timeval seconds = {1, 0};
    struct epoll_event event;
    int polled = epoll_create1(0), word = 0, ends[2];
    pipe(ends);
    set(25, 0); say("nanosleep", nanosleep(&second, &left)); printf("left %ld\\n", left.tv_nsec / 1000000);
    set(25, 0); say("clock_nanosleep", -clock_nanosleep(CLOCK_MONOTONIC, 0, &second, &left)); printf("left %ld\\n", left.tv_nsec / 1000000);
    set(25, 0); say("poll", poll(0, 0, 1000));
    set(25, 0); say("poll without end", poll(0, 0, -1));
    set(25, 0); say("ppoll", ppoll(0, 0, &second, 0));
    set(25, 0); say("select", select(0, 0, 0, 0, &seconds));
    set(25, 0); say("epoll_wait", epoll_wait(polled, &event, 1, 1000));
    set(25, 0); say("futex", syscall(SYS_futex, &word, FUTEX_WAIT, 0, &second, 0, 0));
    set(25, 0); say("pause", pause());
    sigset_t none, usr1; sigemptyset(&none); sigemptyset(&usr1); sigaddset(&usr1, SIGUSR1);
    set(25, 0); say("sigsuspend", sigsuspend(&none));
    struct sigaction interrupting = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &interrupting, 0);
    set(25, 0); say("read", read(ends[0], ends, 1));
    int server = socket(AF_INET, SOCK_STREAM, 0), datagrams = socket(AF_INET, SOCK_DGRAM, 0);
    listen(server, 1);
    set(25, 0); say("accept", accept(server, 0, 0));
    struct sockaddr_in any = {.sin_family = AF_INET}; bind(datagrams, (void *)&any, sizeof any);
    set(25, 0); say("recv", recv(datagrams, ends, 1, 0));
    sigprocmask(SIG_BLOCK, &usr1, 0);
    siginfo_t info;
    set(25, 0); say("sigtimedwait", sigtimedwait(&usr1, &info, &second)); printf("code %d timer %d\\n", info.si_code, info.si_timerid == (long)timer);
    set(25, 0); say("sigwaitinfo", sigwaitinfo(&usr1, &info)); printf("code %d\\n", info.si_code);
  `,
    { functions },
  )
  const { lines } = await heldOutput([program], 60)
  expect(lines).toEqual([
    'nanosleep -1 Interrupted system call, 1 at 25',
    'left 975',
    'clock_nanosleep -4 , 1 at 50',
    'left 975',
    'poll -1 Interrupted system call, 1 at 75',
    'poll without end -1 Interrupted system call, 1 at 100',
    'ppoll -1 Interrupted system call, 1 at 125',
    'select -1 Interrupted system call, 1 at 150',
    'epoll_wait -1 Interrupted system call, 1 at 175',
    'futex -1 Interrupted system call, 1 at 200',
    'pause -1 Interrupted system call, 1 at 225',
    'sigsuspend -1 Interrupted system call, 1 at 250',
    'read -1 Interrupted system call, 1 at 275',
    'accept -1 Interrupted system call, 1 at 300',
    'recv -1 Interrupted system call, 1 at 325',
    'sigtimedwait 10 , 0 at 350',
    'code -2 timer 1',
    'sigwaitinfo 10 , 0 at 375',
    'code -2',
  ])
})

c(
  'overruns are counted, also where the signal is waited for; a timer tells what is left of it (needs cc)',
  async () => {
    const program = compile(
      `
    make(SIGEV_SIGNAL);
    sigset_t usr1; sigemptyset(&usr1); sigaddset(&usr1, SIGUSR1);
    siginfo_t info;
    struct itimerspec left;
    sigprocmask(SIG_BLOCK, &usr1, 0);
    set(10, 10);
    usleep(35000);
    timer_gettime(timer, &left);
    printf("left %ld of %ld\\n", left.it_value.tv_nsec / 1000000, left.it_interval.tv_nsec / 1000000);
    printf("pending %d\\n", timer_getoverrun(timer));
    sigwaitinfo(&usr1, &info);
    printf("waited for: overrun %d, %d\\n", info.si_overrun, timer_getoverrun(timer));
    sigwaitinfo(&usr1, &info);
    printf("the next: overrun %d, %d\\n", info.si_overrun, timer_getoverrun(timer));
    usleep(25000);
    sigprocmask(SIG_UNBLOCK, &usr1, 0);
    printf("handled: %d, overrun %d\\n", fired, timer_getoverrun(timer));
    set(0, 0);
    timer_gettime(timer, &left);
    printf("set to nothing: left %ld, overrun %d\\n", left.it_value.tv_nsec, timer_getoverrun(timer));
    set(10, 0);
    usleep(20000);
    timer_gettime(timer, &left);
    printf("once: fired %d, left %ld\\n", fired, left.it_value.tv_nsec);
    timer_delete(timer);
    int deleted = timer_getoverrun(timer);
    printf("deleted: %d %m\\n", deleted);
  `,
      { functions },
    )
    const { lines } = await heldOutput([program], 60)
    expect(lines).toEqual([
      'left 5 of 10',
      'pending 0',
      'waited for: overrun 2, 2',
      'the next: overrun 0, 0',
      'handled: 1, overrun 1',
      'set to nothing: left 0, overrun 0',
      'once: fired 1, left 0',
      'deleted: -1 Invalid argument',
    ])
  },
)

c('SIGEV_THREAD, SIGEV_THREAD_ID and SIGEV_NONE, beside setitimer and a timerfd (needs cc)', async () => {
  const program = compile(
    `
    struct sigevent call = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = called, .sigev_value.sival_int = 7};
    timer_t thread;
    began = now();
    timer_create(CLOCK_MONOTONIC, &call, &thread);
    struct itimerspec twenty = {{0, 20000000}, {0, 20000000}};
    timer_settime(thread, 0, &twenty, 0);
    int waited = 0;
    while (calls < 3) { usleep(25000); waited++; }
    timer_delete(thread);
    printf("SIGEV_THREAD %d value %d, %d sleeps\\n", calls, value, waited);
    signal(SIGUSR2, on_other);
    signal(SIGALRM, on_signal);
    pthread_t other;
    pthread_create(&other, 0, run, 0);
    usleep(1000);
    struct sigevent of_thread = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR2};
    of_thread._sigev_un._tid = other_tid;
    timer_t its;
    timer_create(CLOCK_REALTIME, &of_thread, &its);
    struct itimerspec fifteen = {{0, 0}, {0, 15000000}};
    timer_settime(its, 0, &fifteen, 0);
    struct itimerval ten = {{0, 10000}, {0, 10000}};
    setitimer(ITIMER_REAL, &ten, 0);
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    timerfd_settime(fd, 0, &twenty, 0);
    struct sigevent none = {.sigev_notify = SIGEV_NONE};
    timer_t silent;
    timer_create(CLOCK_MONOTONIC, &none, &silent);
    timer_settime(silent, 0, &twenty, 0);
    uint64_t expired;
    while (read(fd, &expired, 8) != 8) ;
    printf("timerfd %ld, alarms %d, signals of the thread %d\\n", (long)expired, fired, others);
    usleep(3000);
    struct itimerspec left;
    timer_gettime(silent, &left);
    printf("SIGEV_NONE left %ld\\n", left.it_value.tv_nsec / 1000000);
    if (fork() == 0) {
      printf("forked: %d %m\\n", timer_gettime(silent, &left));
      execl("/bin/sh", "sh", "-c", "sleep 0.1; echo executed", (char *)0);
    }
    wait(0);
  `,
    {
      functions: `#include <pthread.h>
        ${functions}
        static volatile int calls, value, others, other_tid;
        static void called(union sigval given) { value = given.sival_int; __sync_fetch_and_add(&calls, 1); }
        static void on_other(int number) { others += gettid() == other_tid; }
        static void *run(void *nothing) { other_tid = gettid(); for (;;) usleep(500000); }`,
      flags: ['-pthread'],
    },
  )
  const { lines } = await heldOutput([program], 80)
  expect(lines).toEqual([
    'SIGEV_THREAD 3 value 7, 3 sleeps',
    'timerfd 1, alarms 2, signals of the thread 1',
    'SIGEV_NONE left 17',
    'forked: -1 Invalid argument',
    'executed',
  ])
})

c('timers and their overruns are those of a mark again (needs cc)', async () => {
  const program = compile(
    `
    make(SIGEV_SIGNAL);
    sigset_t usr1; sigemptyset(&usr1); sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, 0);
    set(10, 10);
    usleep(35000);
    sigprocmask(SIG_UNBLOCK, &usr1, 0);
    printf("handled\\n");
    usleep(3000);
    printf("fired %d, overrun %d\\n", fired, timer_getoverrun(timer));
    usleep(5000);
    printf("fired %d, overrun %d\\n", fired, timer_getoverrun(timer));
    set(0, 0);
  `,
    { functions },
  )
  const cluster = clusterOf({ nodes: { n: { command: [program] } } })
  await cluster.reset()
  while (!stdoutOf(cluster, 'n').includes('handled')) await runOn(cluster, 1)
  const checkpoint = (await cluster.mark())!
  const further = async () => {
    const labels = await runOn(cluster)
    return { labels, lines: stdoutOf(cluster, 'n') }
  }
  const first = await further()
  expect(first.lines).toEqual(['handled', 'fired 1, overrun 2', 'fired 2, overrun 0'])
  for (let times = 0; times < 2; times++) {
    await cluster.restore(checkpoint)
    expect(await further()).toEqual(first)
  }
  expect(cluster.starts).toBe(1)
})

/** As the public report: a timer of 25 ms beside sleeps, polls, or one long sleep. */
const beside = (how: string, setting: string) => `
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <time.h>
#include <poll.h>
static volatile int fired; static void on(int signal) { fired = 1; }
int main() {
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  signal(SIGUSR1, on);
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  struct itimerspec setting = {{0, 0}, {0, ${setting}}};
  timer_settime(timer, 0, &setting, 0);
  for (int n = 0; n < 6 && !fired; n++) { ${how} }
  printf("{\\"end\\":1,\\"fired\\":%d}\\n", fired);
  fflush(stdout);
  for (;;) pause();
}`

c.each([
  { how: 'usleep(10000);', setting: '25000000', code: 0 },
  { how: 'poll(0, 0, 10);', setting: '25000000', code: 0 },
  { how: 'sleep(1);', setting: '25000000', code: 0 },
  // Here it is never armed.
  { how: 'usleep(10000);', setting: '0', code: 1 },
])(
  'a check ends with $code for a timer of $setting ns beside $how',
  { timeout: 60_000 },
  async ({ how, setting, code }) => {
    const { directory, remove } = copyOfFixtures({
      'program.c': beside(how, setting),
      'fires.config.mjs': `
      import { always, defineSystem, jsonLines } from 'lastnail'
      const fires = always(s => s.node('a').state?.end !== 1 || s.node('a').state?.fired === 1)
      export default defineSystem({ name: 'fires', nodes: { a: { command: ['./program'] } }, state: jsonLines(), properties: { fires } })`,
    })
    onTestFinished(remove)
    execFileSync('gcc', ['-o', join(directory, 'program'), join(directory, 'program.c')])
    const found = await lastnail(directory, 'check', 'fires.config.mjs', '--workers', '1', '--executions', '5')
    expect([found.code, found.stdout]).toEqual([
      code,
      expect.stringContaining(code === 0 ? 'held' : 'violated: safety fires'),
    ])
  },
)
