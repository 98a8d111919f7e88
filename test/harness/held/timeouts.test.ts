import { expect, test } from 'vitest'
import { compile, hasCompiler, heldOutput } from './program.ts'

const listener = `
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7000)};
  bind(fd, (struct sockaddr *)&a, sizeof a);
  listen(fd, 5);
`

test.skipIf(!hasCompiler)('SO_RCVTIMEO is a timer of the node, by which recv and accept give up', async () => {
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
})

test.skipIf(!hasCompiler)('the time that select has left is told', async () => {
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
