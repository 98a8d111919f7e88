import { clockGettime } from './libc.ts'

/** The clock id of a whole process's CPU time, as clock_getcpuclockid(3) makes it (CPUCLOCK_SCHED). */
const clockOf = (pid: number) => (~pid << 3) | 2

const time = new BigInt64Array(2)

/** CPU time used by all threads of a process, ended ones included; undefined if it is gone. */
export const cpuNsOf = (pid: number): number | undefined =>
  clockGettime(clockOf(pid), time) === 0 ? Number(time[0]) * 1e9 + Number(time[1]) : undefined
