import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Gives a container's process the same share of CPU as this one. If the kernel assigns real time to groups
 * (CONFIG_RT_GROUP_SCHED, cgroups v1), a container's group has none, and its threads could not take turns in order.
 */
export const shareCpu = (pid: number): void => {
  const [, path] = /^\d+:(?:[^:]*,)?cpu(?:,[^:]*)?:(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8')) ?? []
  if (path === undefined) return
  try {
    writeFileSync(`/sys/fs/cgroup/cpu${path}/cgroup.procs`, String(pid))
  } catch {
    // Without it the fair scheduler decides, as for ordinary users.
  }
}
