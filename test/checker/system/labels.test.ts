import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutsBy, isHealedBy } from '../../../checker/happening/ways.ts'
import { inputsIn, isOfNetwork, meaningIn, readLabel, withOrdinal } from '../../../checker/system/labels.ts'
import { distanceTo, identityOf, isAlikeInOutline, isLike, saidBy } from '../../../checker/system/likeness.ts'
import type { ChoiceKind } from '../../../checker/system/system.ts'
import { choiceOf } from '../systems/model.ts'

const node = fc.stringMatching(/^[a-z][a-z0-9-]{0,5}$/)
const words = fc.stringMatching(/^[a-z=& "#.→0-9]{0,20}$/)
const ordinal = fc.integer({ min: 1, max: 999 })

const deliver = (label: string) => choiceOf({ kind: 'deliver', node: 'b', label })

describe('a label', () => {
  it('of a message has its sender, receiver, number and text', () => {
    fc.assert(
      fc.property(node, node, ordinal, words, (from, to, n, said) => {
        const { subject, numbers, ...parts } = readLabel(`${from}→${to} #${n} ${said}`)
        expect(parts).toEqual({ kind: 'deliver', node: to, from, to, ordinal: n })
        const parted =
          subject.length + numbers.map(number => String(number).length).reduce((sum, each) => sum + each, 0)
        expect(parted).toBeLessThanOrEqual(said.length)
      }),
    )
  })

  it('of an overlap has what it joins, whatever the messages say', () => {
    const inputs = fc.oneof(
      fc.tuple(node, node, ordinal, words).map(([from, to, n, said]) => `${from}→${to} #${n} ${said}`),
      fc.tuple(node, fc.nat(5000)).map(([name, ms]) => `${name} timer +${ms}ms`),
    )
    // A text that looks like the begin of another input cannot be told from one.
    const isPlain = (label: string) => !/ & \S+(→\S+ #\d| timer)/.test(label)
    fc.assert(
      fc.property(inputs.filter(isPlain), inputs.filter(isPlain), (first, second) => {
        const label = `overlap ${first} & ${second}`
        expect(inputsIn(label)).toEqual([first, second])
        expect(readLabel(label).joins).toEqual([readLabel(first), readLabel(second)])
      }),
    )
  })

  it('of two calls that begin at once has both', () => {
    expect(inputsIn('overlap client ann & client bob')).toEqual(['client ann', 'client bob'])
    expect(readLabel('overlap client ann & client bob').joins).toEqual([
      readLabel('client ann'),
      readLabel('client bob'),
    ])
  })

  it.each<[string, ChoiceKind | undefined]>([
    ['drop n1→n2 #3 vote', 'drop'],
    ['duplicate n1→n2 #3 vote', 'duplicate'],
    ['reset n1→n2 connection 2 :80', 'reset'],
    ['reset n1 silently', 'reset'],
    ['client put', 'client'],
    ['cut n1→n2', 'partition'],
    ['partition n1 | n2', 'partition'],
    ['heal', 'heal'],
    ['crash n1', 'crash'],
    ['crash n1 silently', 'silent'],
    ['power n1', 'power'],
    ['power n1 keeps 3 of 5, not rename db.tmp db', 'power'],
    ['restart n1', 'restart'],
    ['preempt n1 before call 7', 'preempt'],
    ['split n1→n2 #3 vote at 1', 'split'],
    ['split client ann at half', 'split'],
    ['clock n1 -1h', 'clock'],
    ['n1 timer +250.5ms', 'timer'],
    ['anything else', undefined],
  ])('%s: its kind', (label, kind) => {
    expect(readLabel(label).kind).toBe(kind)
  })

  it('of a message is the same with another ordinal, and its meaning is what follows', () => {
    expect(withOrdinal('n1→n2 #3 vote #3', 7)).toBe('n1→n2 #7 vote #3')
    expect(['n1→n2 #3 vote #3 term=4', 'n1→n2 #3'].map(meaningIn)).toEqual(['vote #3 term=4', ''])
  })

  it.each([
    'crash n1',
    'crash n1 silently',
    'power n1',
    'power n1 keeps 3 of 5, write log torn',
    'restart n1',
    'reset n1 silently',
    'n1 timer +5ms',
    'n2→n1 #3 vote',
  ])('%s: its node', label => {
    expect(readLabel(label).node).toBe('n1')
  })

  it('of a native run says which way was cut or healed, at any time', () => {
    expect(cutsBy('12.50 s n1→n2 cut')).toEqual(['n1→n2'])
    expect(cutsBy('12.50 s n1→n2 delayMs 5')).toEqual([])
    expect(isHealedBy('20.00 s n1→n2 joined', 'n1→n2')).toBe(true)
    expect(isHealedBy('20.00 s n2→n1 joined', 'n1→n2')).toBe(false)
    expect(isHealedBy('20.00 s heal', 'n1→n2')).toBe(true)
  })

  it.each([
    ['part a,b c', ['part'], 'heal all'],
    ['part a,b c', ['part'], 'part a b,c'],
    ['leave n1 cut', ['node n1'], 'join n1'],
    ['link n1-n2 down', ['link n1-n2'], 'link n1-n2 up'],
    ['link n1 as it was, down, delayMs 5', ['link n1'], 'link n1 as it was'],
    ['set a→b cut; b→a cut, delayMs 5', ['a→b', 'b→a'], 'set a→b joined; b→a joined'],
  ])('of a timed run, %s, cuts what another one joins', (label, cuts, joins) => {
    expect(cutsBy(label)).toEqual(cuts)
    expect(cuts.map(cut => isHealedBy(joins, cut))).toEqual(cuts.map(() => true))
    expect(isHealedBy('join other', cuts[0]!)).toBe(false)
  })

  it.each<[string, ChoiceKind]>([
    ['part a,b c', 'partition'],
    ['heal all', 'heal'],
    ['join n1', 'restart'],
    ['leave n1 kill', 'crash'],
    ['exec n1 ls', 'client'],
    ['outside 1 connects to n1:80', 'client'],
    ['link n1 delayMs 200', 'link'],
    ['link n1 down', 'partition'],
    ['link n1 up', 'heal'],
    ['set a→b delayMs 5', 'link'],
    ['set a→b cut', 'partition'],
    ['set a→b joined', 'heal'],
    ['steer pause n1 for 1000 ms', 'steer'],
  ])('of a timed run, %s, has its kind', (label, kind) => {
    expect(readLabel(label).kind).toBe(kind)
  })

  it('tells steps that change the network alone from those of a node', () => {
    for (const label of [
      'partition a | b c',
      'cut a→b',
      'heal',
      'part a,b c',
      'heal all',
      'link 0-1 down',
      'set a→b cut',
    ])
      expect(isOfNetwork(label), label).toBe(true)
    for (const label of ['a timer +20ms', 'a→b #1 heal', 'drop a→b #1 set', 'healer timer', 'reset a', 'client c'])
      expect(isOfNetwork(label), label).toBe(false)
  })
})

describe('two choices', () => {
  it('are alike whatever their numbers, and nearest by what they say before the order of sending', () => {
    const wanted = readLabel('a→b #7 vote term=4')
    const [far, near] = [deliver('a→b #7 vote term=3'), deliver('a→b #2 vote term=4')]
    expect([far, near].map(each => isLike(each, wanted))).toEqual([true, true])
    expect(distanceTo(near, wanted)[0]).toBeLessThan(distanceTo(far, wanted)[0])
    expect(isLike(deliver('c→b #7 vote term=4'), wanted)).toBe(false)
    expect(isLike(deliver('a→b #7 ask term=4'), wanted)).toBe(false)
  })

  it('are alike in outline where only words with digits differ', () => {
    const wanted = readLabel('a→b #1 get k17x')
    expect(isAlikeInOutline(deliver('a→b #4 get k2y'), wanted)).toBe(true)
    expect(isAlikeInOutline(deliver('a→b #4 put k17x'), wanted)).toBe(false)
  })

  it('say the same but are not the same where their bytes or connections differ', () => {
    const [one, other] = [
      { ...deliver('a→b #1 8 bytes'), hash: 'x' },
      { ...deliver('a→b #2 8 bytes'), hash: 'y' },
    ]
    expect(saidBy(one)).toBe(saidBy(other))
    expect(identityOf(one)).not.toBe(identityOf(other))
    expect(identityOf({ ...one, connection: 1 })).not.toBe(identityOf({ ...one, connection: 2 }))
  })
})
