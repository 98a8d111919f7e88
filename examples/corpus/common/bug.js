const bugs = (process.env.BUG ?? '').split(',')

/** Whether the service runs with the bug of that name: `BUG=paxos-last-promise node …`, or several with commas. Without one it is correct. */
export const bug = name => bugs.includes(name)
