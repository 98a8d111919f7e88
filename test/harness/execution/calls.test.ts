import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { always } from '../../../checker/system/property.ts'
import { type GlobalState, jsonLines } from '../../../harness/config/config.ts'
import { clusterOf, directoryWith, printedAfter, take } from '../system.ts'

const tries = `
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static long said(long result) { return result < 0 ? -errno : result; }

int main(void) {
  int udp = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(7000)};
  bind(udp, (struct sockaddr *)&own, sizeof own);
  int file = open("file", O_CREAT | O_RDWR, 0644);
  pwrite(file, "12345678", 8, 0);
  int ends[2], idle[2], nobody = 0;
  pipe(ends);
  pipe2(idle, O_NONBLOCK);
  write(ends[1], "abcdefgh", 8);
  write(idle[1], "abcdefgh", 8);
  int events = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(events, EPOLL_CTL_ADD, udp, &event);
  for (;;) {
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    char bytes[100];
    long waited = said(epoll_wait(events, &event, 1, -1));
    recvfrom(udp, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &size);
    long read_idle = said(read(idle[0], bytes, 4));
    write(idle[1], bytes, read_idle);
    long read_file = said(pread(file, bytes, 8, 0));
    long read_pipe = said(read(ends[0], bytes, 4));
    write(ends[1], "abcd", 4);
    long written = said(pwrite(file, "12345678", 8, 0));
    long woken = said(syscall(SYS_futex, &nobody, FUTEX_WAIT, nobody + 1, NULL));
    long made = said(dup(file));
    if (made > 0) close(made);
    printf("%ld %ld %ld %ld %ld %ld %s\\n", waited, read_idle, read_file, read_pipe, written, woken, made > 0 ? "made" : strerror(-made));
    fflush(stdout);
    sendto(udp, "done", 4, 0, (struct sockaddr *)&from, size);
  }
}`

const compiled = (source: string): string => {
  const directory = directoryWith({ 'program.c': source })
  const program = join(directory, 'program')
  execFileSync('gcc', ['-O1', '-o', program, join(directory, 'program.c')])
  return program
}

test('a call does less than it should, in the next step alone; what does not wait is not short', async () => {
  const cluster = clusterOf({
    nodes: { store: { command: [compiled(tries)] } },
    clients: { ann: { times: 2, run: async ({ store }) => String(await store!.udp(7000, 'go')) } },
    faults: { calls: 1 },
  })
  const after = async (label: string) => printedAfter(cluster, () => take(cluster, label))
  const usual = '1 4 8 4 8 -11 made'
  expect(await after('calls store short read 1')).toEqual(['1 4 1 4 8 -11 made', usual])
  expect(await after('calls store short read 2')).toEqual(['1 4 8 1 8 -11 made', usual])
  expect(await after('calls store short write 1')).toEqual(['1 4 8 4 1 -11 made', usual])
  expect(await after('calls store vain wake-up 1')).toEqual(['1 4 8 4 8 0 made', usual])
  expect(await after('calls store no descriptor 1')).toEqual(['1 4 8 4 8 -11 Too many open files', usual])
  // It had begun to wait before the step.
  expect((await after('calls store interrupted wait 1'))[0]).toBe(usual)
})

/** Takes a short read for the end of a file, or reads until there is none. */
const reader = (waits: boolean) => `
import json, os, socket
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(('', 7000))
open('words', 'w').write('x' * 100)
while True:
    _, peer = udp.recvfrom(100)
    file, count = os.open('words', os.O_RDONLY), 0
    while True:
        read = len(os.read(file, 64))
        count += read
        if read ${waits ? '== 0' : '< 64'}: break
    os.close(file)
    print(json.dumps({'right': count == 100}), flush=True)
    udp.sendto(b'done', peer)
`

/** Accepts connections, and ends where it gets no descriptor, or goes on. */
const server = (goesOn: boolean) => `
import socket
listener = socket.create_server(('', 7000))
while True:
    try:
        connection, _ = listener.accept()
    except OSError:
        if ${goesOn ? 'True' : 'False'}: continue
        raise
    connection.close()
`

const systemOf = (source: string) =>
  clusterOf(
    {
      // The reader may end where it gets no descriptor.
      nodes: { store: { command: ['python3', 'program.py'], exits: source.includes('udp') ? 'allowed' : 'crash' } },
      state: jsonLines(),
      clients: {
        ann: {
          times: 2,
          run: async ({ store }) =>
            source.includes('udp') ? String(await store!.udp(7000, 'go')) : void store!.tcp(7000).on('error', () => {}),
        },
      },
      faults: { calls: 1 },
    },
    { 'program.py': source },
  )

const right = always<GlobalState>(
  state => (state.node('store').state as { right?: boolean } | undefined)?.right !== false,
)

test.each([
  ['a short read that is taken for the end', reader, 'short read'],
  ['a server that ends where it gets no descriptor', server, 'no descriptor'],
])('%s is found, and mended it is held', async (_, source, what) => {
  const verdict = await check(systemOf(source(false)), { right }, { executions: 300, seed: 1 })
  expect(verdict).toMatchObject({ verdict: 'violated' })
  expect(verdict.schedule!.find(label => label.startsWith('calls '))).toMatch(`calls store ${what}`)
  expect(await check(systemOf(source(true)), { right }, { executions: 80, seed: 1 })).toMatchObject({ verdict: 'held' })
})
