import { eventually } from '../../../checker/system/property.ts'
import { Model, type ModelOptions, type Transition } from './model.ts'

/** A token goes around a ring of places; from place 2 it can also fall into a pit, where it goes around for ever. */
export interface Ring {
  readonly where: 'ring' | 'pit' | 'detour'
  readonly place: number
}

export interface RingOptions extends ModelOptions {
  readonly size?: number
  readonly pit?: number
  /** Steps of a detour that begins at place 1 and comes back to place 0; none by default. */
  readonly detour?: number
  /** The pit has no way to go on. */
  readonly still?: boolean
}

export const ring = ({ size = 4, pit = 3, detour = 0, still = false, ...options }: RingOptions = {}): Model<Ring> => {
  const step = (label: string, where: Ring['where'], place: number): Transition<Ring> => {
    return { kind: 'timer', node: 'token', label, next: () => ({ where, place }) }
  }
  const transitions = ({ where, place }: Ring): Transition<Ring>[] => {
    if (where === 'pit') return still ? [] : [step('circle', 'pit', (place + 1) % pit)]
    if (where === 'detour') return [place + 1 < detour ? step('plod', 'detour', place + 1) : step('return', 'ring', 0)]
    return [
      step('move', 'ring', (place + 1) % size),
      ...(place === 2 && pit > 0 ? [step('fall', 'pit', 0)] : []),
      ...(place === 1 && detour > 0 ? [step('turn off', 'detour', 0)] : []),
    ]
  }
  return new Model<Ring>({ where: 'ring', place: 0 }, transitions, options)
}

export const comesHome = eventually<Ring>(({ where, place }) => where === 'ring' && place === 0)
