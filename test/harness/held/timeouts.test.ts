import { expect, test } from 'vitest'
import { hasCriu } from '../checkpoint/criu.ts'
import { clusterOf, stdoutOf } from '../system.ts'
import { compile, hasCompiler, heldOutput, runOn } from './program.ts'

const listener = `
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7000)};
  bind(fd, (struct sockaddr *)&a, sizeof a);
  listen(fd, 5);
`

test.skipIf(!hasCompiler)(
  'SO_RCVTIMEO is a timer of the node, by which recv and accept give up (needs cc)',
  async () => {
    const program = compile(`
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct timeval two = {2, 500000}, read_back;
    socklen_t length = sizeof read_back;
    printf("set %d\\n", setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &two, sizeof two));
    printf("get %d", getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &read_back, &length));
    printf(" %ld.%06ld\\n", (long)read_back.tv_sec, (long)read_back.tv_usec);
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(9)};
    bind(fd, (struct sockaddr *)&any, sizeof any);
    char buffer[10];
    for (int i = 0; i < 2; i++) {
      int got = recv(fd, buffer, 10, 0);
      printf("recv %d %s at %g\\n", got, strerror(errno), now());
    }
    ${listener.replaceAll('fd', 'l')}
    setsockopt(l, SOL_SOCKET, SO_RCVTIMEO, &two, sizeof two);
    int got = accept(l, 0, 0);
    printf("accept %d %s at %g\\n", got, strerror(errno), now());
    two.tv_usec = 1000000;
    printf("bad %d", setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &two, sizeof two));
    printf(" %s\\n", strerror(errno));
  `)
    const { lines, labels } = await heldOutput([program])
    expect(labels).toEqual(['n timer +1000ms', 'n timer +2500ms', 'n timer +2500ms', 'n timer +2500ms'])
    expect(lines).toEqual([
      'set 0',
      'get 0 2.500000',
      'recv -1 Resource temporarily unavailable at 3.5',
      'recv -1 Resource temporarily unavailable at 6',
      'accept -1 Resource temporarily unavailable at 8.5',
      'bad -1 Numerical argument out of domain',
    ])
  },
)

test.skipIf(!hasCompiler)('the time that select has left is told (needs cc)', async () => {
  const program = compile(`
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec in_two = {.it_value = {2, 0}};
    timerfd_settime(fd, 0, &in_two, 0);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    struct timeval left = {5, 0};
    int got = select(fd + 1, &set, 0, 0, &left);
    printf("%d %ld.%06ld\\n", got, (long)left.tv_sec, (long)left.tv_usec);
    uint64_t expirations;
    read(fd, &expirations, 8);
    got = select(fd + 1, &set, 0, 0, &left);
    printf("%d %ld.%06ld\\n", got, (long)left.tv_sec, (long)left.tv_usec);
  `)
  expect((await heldOutput([program])).lines).toEqual(['1 3.000000', '0 0.000000'])
})

const expirations = `
  static struct itimerspec in(int seconds, int interval) {
    struct itimerspec setting = {.it_value = {seconds, 0}, .it_interval = {interval, 0}};
    return setting;
  }
  static int armed(int seconds, int interval) {
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec setting = in(seconds, interval);
    timerfd_settime(fd, 0, &setting, 0);
    return fd;
  }
  static void show(const char *who, int fd) {
    uint64_t expirations = 0;
    long length = read(fd, &expirations, 8);
    printf("%s %ld %lu at %g\\n", who, length, expirations, now());
  }
`

test.skipIf(!hasCompiler)('the timer of a timerfd goes on while anybody has it open (needs cc)', async () => {
  const program = compile(
    `
    int fd = armed(2, 0), other = dup(fd);
    close(fd);
    show("duplicate", other);

    int inherited = armed(2, 0);
    if (fork() == 0) { show("child", inherited); sleep(5); _exit(0); }
    close(inherited);
    sleep(3);

    int ends[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    if (fork() == 0) { int sent = received(ends[1]); show("receiver", sent); sleep(5); _exit(0); }
    int given = armed(3, 0);
    give(ends[0], given);
    sleep(1);
    close(given);
    sleep(3);

    // Of a process that has ended.
    pipe(ends);
    int left = timerfd_create(CLOCK_MONOTONIC, 0);
    if (fork() == 0) { struct itimerspec setting = in(2, 0); timerfd_settime(left, 0, &setting, 0); _exit(0); }
    wait(0);
    show("parent", left);

    // Whoever has it sets the same one.
    struct itimerspec before, off = in(0, 0);
    int again = armed(2, 3), same = dup(again);
    timerfd_gettime(same, &before);
    printf("%ld %ld\\n", before.it_value.tv_sec, before.it_interval.tv_sec);
    sleep(9);
    show("unread", again);
    timerfd_settime(same, 0, &off, &before);
    printf("%ld %ld\\n", before.it_value.tv_sec, before.it_interval.tv_sec);
    close(armed(1, 1));
    printf("%d %m\\n", timerfd_settime(0, 0, &off, 0));
    sleep(4);
  `,
    {
      functions: `${expirations}
      static struct msghdr message(struct iovec *part, char *control) {
        struct msghdr header = {.msg_iov = part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = CMSG_SPACE(sizeof(int))};
        return header;
      }
      static void give(int to, int fd) {
        char byte = 0, control[CMSG_SPACE(sizeof fd)] = {0};
        struct iovec part = {&byte, 1};
        struct msghdr header = message(&part, control);
        struct cmsghdr *first = CMSG_FIRSTHDR(&header);
        first->cmsg_level = SOL_SOCKET; first->cmsg_type = SCM_RIGHTS; first->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(first), &fd, sizeof fd);
        sendmsg(to, &header, 0);
      }
      static int received(int from) {
        int fd;
        char byte, control[CMSG_SPACE(sizeof fd)] = {0};
        struct iovec part = {&byte, 1};
        struct msghdr header = message(&part, control);
        recvmsg(from, &header, 0);
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof fd);
        return fd;
      }`,
    },
  )
  const { lines, labels } = await heldOutput([program])
  expect(lines).toEqual([
    'duplicate 8 1 at 3',
    'child 8 1 at 5',
    'receiver 8 1 at 9',
    'parent 8 1 at 12',
    '2 3',
    'unread 8 3 at 21',
    '2 3',
    '-1 Invalid argument',
  ])
  expect(labels.at(-1)).toBe('n timer +4000ms')
})

const armedBefore = () =>
  compile('if (fork() == 0) { show("child", kept); _exit(0); } close(kept); sleep(9);', {
    functions: `${expirations}
      static int kept;
      __attribute__((constructor)) static void arm(void) { int fd = armed(3, 0); kept = dup(fd); close(fd); }`,
  })

test.skipIf(!hasCompiler)('a timerfd that is armed at the mark is rewound (needs cc)', async () => {
  const { lines, labels } = await heldOutput([armedBefore()])
  expect(lines).toEqual(['child 8 1 at 3'])
  expect(labels).toEqual(['n timer +1000ms', 'n timer +2000ms', 'n timer +7000ms'])
})

test.skipIf(!hasCompiler || !hasCriu())('a timerfd goes on from a checkpoint (needs CRIU)', async () => {
  const cluster = clusterOf({ nodes: { n: { command: [armedBefore()] } } })
  expect(await cluster.reset()).toEqual([])
  await runOn(cluster, 1)
  const checkpoint = await cluster.checkpoints.save()
  expect(checkpoint.lacking).toBe(undefined)
  expect(await cluster.checkpoints.goBack(checkpoint)).toBe(undefined)
  await checkpoint.discard()
  expect(await runOn(cluster)).toEqual(['n timer +2000ms', 'n timer +7000ms'])
  expect(stdoutOf(cluster, 'n')).toEqual(['child 8 1 at 3'])
})
