import type { Subject } from '../../checker/system/subjects.ts'

/** Fields that exist only at the end of a call or after a failure say nothing. */
export const isOfUsers = (path: string): boolean =>
  path === '' || /^(calls|history)$|^(nodes\[\]|node\(\))\.state\b/.test(path)

/** Whether it is the whole state of a node. */
export const isWhole = (path: string): boolean => /^(nodes\[\]|node\(\))\.state$/.test(path)

export const shownPath = ({ path }: Pick<Subject, 'path'>): string =>
  path === '' ? 'the history' : path.replace(/^(nodes\[\]|node\(\))\./, '').replaceAll('[]', '[…]')
