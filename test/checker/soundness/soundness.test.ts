import { describe, expect, it } from 'vitest'
import { cases } from './systems.ts'

const searches = ['auto', 'bounded'] as const

describe.each(cases)('$name', ({ name, kind, check }) => {
  it.each(searches)(`the mistake of ${name} is found (%s)`, async search => {
    const verdict = await check(false, { search, executions: 2_000 })
    expect(verdict).toMatchObject({ verdict: 'violated', kind, property: 'good', repeated: true })
  })

  it.each(searches)(`the mistake of ${name} is not said of its correct twin (%s)`, async search => {
    const { verdict } = await check(true, { search, executions: 500 })
    expect(verdict).toBe('held')
  })
})
