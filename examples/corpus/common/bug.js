/** Whether the service runs with the bug of that name: `BUG=paxos-last-promise node …`. Without one it is correct. */
export const bug = name => process.env.BUG === name
