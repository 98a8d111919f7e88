import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { narrowed } from '../../../checker/system/narrowed.ts'
import { always } from '../../../checker/system/property.ts'
import type { Cluster } from '../../../harness/cluster.ts'
import { type GlobalState, jsonLines } from '../../../harness/config/config.ts'
import { clusterOf, directoryWith, labelsOf, stdoutOf, take } from '../system.ts'

/** Waits for a datagram, does something with two threads, and answers. */
const server = (globals: string, one: string, other: string, before: string, after: string) => `
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <netinet/in.h>
${globals}
static void *one(void *unused) { ${one} return NULL; }
static void *other(void *unused) { ${other} return NULL; }
int main(void) {
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(7000)};
  bind(fd, (struct sockaddr *)&own, sizeof own);
  for (;;) {
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    char said[16];
    recvfrom(fd, said, sizeof said, 0, (struct sockaddr *)&from, &size);
    ${before}
    pthread_t first, second;
    pthread_create(&first, NULL, one, NULL);
    pthread_create(&second, NULL, other, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    ${after}
    fflush(stdout);
    sendto(fd, "done", 4, 0, (struct sockaddr *)&from, size);
  }
}`

const update = `
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void add(void) {
  char text[16] = {0};
  if (LOCKS) pthread_mutex_lock(&mutex);
  int file = open("count", O_RDWR);
  int count = pread(file, text, 15, 0) > 0 ? atoi(text) : 0;
  int length = snprintf(text, sizeof text, "%d", count + 1);
  pwrite(file, text, length, 0);
  close(file);
  if (LOCKS) pthread_mutex_unlock(&mutex);
}`

const counts = (locks: 0 | 1) =>
  server(
    `#define LOCKS ${locks}\n${update}`,
    'add();',
    'add();',
    'close(open("count", O_CREAT | O_RDWR | O_TRUNC, 0644));',
    'char text[16] = {0}; int file = open("count", O_RDONLY); read(file, text, 15); close(file); printf("{\\"right\\": %s}\\n", atoi(text) == 2 ? "true" : "false");',
  )

/** Two locks: taken in two orders, or in one. */
const locks = (first: 'a' | 'b', second: 'a' | 'b') => {
  const taking = (one: string, other: string) =>
    `pthread_mutex_lock(&${one}); write(2, "one\\n", 4); pthread_mutex_lock(&${other}); pthread_mutex_unlock(&${other}); pthread_mutex_unlock(&${one});`
  return server(
    'static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;',
    taking('a', 'b'),
    taking(first, second),
    'printf("{\\"right\\": false}\\n"); fflush(stdout);',
    'printf("{\\"right\\": true}\\n");',
  )
}

const python = (locks: boolean) => `
import json, socket, threading
from contextlib import nullcontext
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(('', 7000))
log = open('log', 'a', buffering=1)
lock = ${locks ? 'threading.Lock()' : 'nullcontext()'}
total = 0
def add(count):
    global total
    with lock:
        before = total
        log.write(f'adding {count}\\n')
        total = before + count
while True:
    _, peer = udp.recvfrom(100)
    total = 0
    threads = [threading.Thread(target=add, args=(n,)) for n in (1, 2)]
    for each in threads: each.start()
    for each in threads: each.join()
    print(json.dumps({'right': total == 3}), flush=True)
    udp.sendto(b'done', peer)
`

const system = (command: readonly string[], files: Record<string, string> = {}) =>
  clusterOf(
    {
      nodes: { store: { command } },
      state: jsonLines(),
      clients: { ann: { times: 2, run: async ({ store }) => String(await store!.udp(7000, 'go')) } },
      threads: 1,
    },
    files,
  )

const compiled = (source: string) => {
  const directory = directoryWith({ 'program.c': source })
  const program = join(directory, 'program')
  execFileSync('gcc', ['-O1', '-o', program, join(directory, 'program.c'), '-lpthread'])
  return system([program])
}

const right = always<GlobalState>(
  state => (state.node('store').state as { right?: boolean } | undefined)?.right !== false,
)

const takeNarrow = async (cluster: Cluster, label: string) => {
  const choice = narrowed(cluster.enabled(), label)
  expect(choice?.label).toBe(label)
  await cluster.execute(choice!)
}

test('a thread gives way before one call of the next step; twenty of twenty executions are the same', async () => {
  const cluster = compiled(counts(0))
  const said: string[] = []
  for (const _ of Array.from({ length: 20 })) {
    await cluster.reset()
    // After the main thread's open and close, and the first thread's open and read: its write.
    await takeNarrow(cluster, 'preempt store before call 5')
    expect(labelsOf(cluster)).toEqual(['client ann'])
    await take(cluster, 'client ann')
    await take(cluster, 'client ann')
    said.push(stdoutOf(cluster, 'store').join())
  }
  expect(new Set(said)).toEqual(new Set(['{"right": false},{"right": true}']))
})

describe.each<[string, () => Cluster, () => Cluster]>([
  ['an update that two threads of a C program make to one file', () => compiled(counts(0)), () => compiled(counts(1))],
  ['two locks that are taken in two orders', () => compiled(locks('b', 'a')), () => compiled(locks('a', 'b'))],
  [
    'an update of python across a system call',
    () => system(['python3', 'update.py'], { 'update.py': python(false) }),
    () => system(['python3', 'update.py'], { 'update.py': python(true) }),
  ],
])('%s', (_, wrong, mended) => {
  test.each([1, 2])('is found, by one call, with seed %i', async seed => {
    const verdict = await check(wrong(), { right }, { executions: 120, seed })
    expect(verdict).toMatchObject({ verdict: 'violated' })
    expect(verdict.schedule!.filter(label => label.startsWith('preempt '))).toEqual([
      expect.stringMatching(/^preempt store before call \d+$/),
    ])
  })

  test('mended, it is held', async () => {
    expect(await check(mended(), { right }, { executions: 60, seed: 1 })).toMatchObject({ verdict: 'held' })
  })
})
