import { expect, test } from 'vitest'
import { after, initial, labelsTo, startAfter, startAsOffered } from '../../../checker/system/start.ts'

test('a start is named by what leads there, of the whole system or of a node alone', () => {
  expect(startAfter([])).toBe(initial)
  expect(labelsTo(initial)).toEqual([])
  expect(labelsTo(after(startAsOffered(['n1 timer']), ['n2 timer']))).toEqual(['n1 timer', 'n2 timer'])
  const ping = { from: 'n2', to: 'n1', label: 'n2→n1 #1 ping', content: 'ping', body: undefined }
  expect(labelsTo({ at: 'node', node: 'n1', after: [], inputs: [{ choice: 'n1 timer' }, { deliver: ping }] })).toEqual([
    'n1 timer',
    'n2→n1 #1 ping',
  ])
})
