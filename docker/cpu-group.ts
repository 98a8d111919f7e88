import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Lets a container's process have the CPU as this one does. Where the kernel gives out real time by groups
 * (CONFIG_RT_GROUP_SCHED, cgroups v1), a container's group has none, and its threads could not take turns in order.
 */
export const shareCpu = (pid: number): void => {
  const [, path] = /^\d+:(?:[^:]*,)?cpu(?:,[^:]*)?:(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8')) ?? []
  if (path === undefined) return
  try {
    writeFileSync(`/sys/fs/cgroup/cpu${path}/cgroup.procs`, String(pid))
  } catch {
    // Then the fair scheduler decides, as it does for ordinary users.
  }
}
