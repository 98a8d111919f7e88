import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Cluster } from '../../../harness/cluster.ts'
import { clusterOf, directoryWith, labelsOf, stdoutOf } from '../system.ts'

/** What every program of these tests begins with: it says something at once, and waits for its name to be called. */
const prelude = `
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return t.tv_sec - 1767225600 + t.tv_nsec / 1e9;
}
`

/** Tests that compile C are left out where there is no compiler. */
export const hasCompiler = spawnSync('gcc', ['--version']).status === 0

/** Compiles a program in C; \`body\` is that of main, after a second's sleep. */
export const compile = (body: string, { functions = '', flags = [] as readonly string[] } = {}): string => {
  const main = `int main(int argc, char **argv) { setvbuf(stdout, 0, _IONBF, 0); sleep(1); { ${body} } for (;;) pause(); }`
  const directory = directoryWith({ 'program.c': `${prelude}${functions}\n${main}` })
  const program = join(directory, 'program')
  execFileSync('gcc', ['-O1', '-o', program, ...flags, join(directory, 'program.c')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return program
}

/** Executes the first thing that is enabled, until nothing is or so many were. */
export const runOn = async (cluster: Cluster, stepsMax = 30): Promise<string[]> => {
  const executed: string[] = []
  for (
    let label = labelsOf(cluster)[0];
    label !== undefined && executed.length < stepsMax;
    label = labelsOf(cluster)[0]
  ) {
    executed.push(label)
    const { findings } = await cluster.execute(cluster.enabled()[0]!)
    expect(findings).toEqual([])
  }
  return executed
}

/**
 * What a program prints, in its two executions on new processes and one on rewound processes: they must
 * be alike.
 */
export const heldOutput = async (
  command: readonly [string, ...string[]],
  stepsMax?: number,
): Promise<{ lines: string[]; labels: string[]; notes: string[] }> => {
  const execute = async (cluster: Cluster) => {
    expect(await cluster.reset()).toEqual([])
    const labels = await runOn(cluster, stepsMax)
    // Whether it was rewound or started anew is not what is compared.
    const notes = cluster.notes().filter(note => !note.includes('was started anew'))
    return { lines: stdoutOf(cluster, 'n'), labels, notes }
  }
  const cluster = clusterOf({ nodes: { n: { command } } })
  const first = await execute(cluster)
  expect(await execute(cluster)).toEqual(first)
  expect(await execute(clusterOf({ nodes: { n: { command } } }))).toEqual(first)
  return first
}
