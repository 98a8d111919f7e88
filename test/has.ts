import { spawnSync } from 'node:child_process'

/** Whether this machine has a program of this name. */
export const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
