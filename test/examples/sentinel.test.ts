import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { lastnail } from '../cli/lastnail.ts'

const example = fileURLToPath(new URL('../../examples/sentinel/', import.meta.url))
const installed = spawnSync('redis-server', ['--version']).status === 0

test.skipIf(!installed)('Sentinel promotes a replica that has never had a copy (needs redis-server)', async () => {
  const { code, stdout } = await lastnail(example, 'regress', 'schedules', '--json')
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({
    code: 1,
    schedules: [{ property: 'acknowledgedWritesSurvive', outcome: 'fails', executed: 49, of: 49 }],
  })
})
