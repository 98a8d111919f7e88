import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Offers } from '../../../checker/cells/offers.ts'

it('knows the first step of each label, whatever was marked meanwhile and wherever executions continue', () => {
  const runs = fc.array(fc.record({ from: fc.nat(), labels: fc.array(fc.nat(12), { maxLength: 20 }) }))
  fc.assert(
    fc.property(runs, runs => {
      const marks = [{ offers: new Offers(), known: new Map<string, number>() }]
      for (const { from, labels } of runs) {
        const mark = marks[from % marks.length]!
        const [offers, known] = [mark.offers.next(), new Map(mark.known)]
        for (const [step, label] of labels.map(String).entries()) {
          offers.note(label, step)
          if (!known.has(label)) known.set(label, step)
        }
        marks.push({ offers: offers.settled(), known })
      }
      for (const { offers, known } of marks)
        for (let label = 0; label <= 12; label++) expect(offers.get(String(label))).toBe(known.get(String(label)))
    }),
  )
})
