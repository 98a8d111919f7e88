/** What can be copied together with all that refers to it. */
export interface Copied {
  copy(copies: Copies): Copied
}

/** Copies of objects that refer to each other: each is copied once, whoever refers to it. */
export class Copies {
  readonly #made = new Map<object, object>()

  /** The copy of an object. */
  of<One extends Copied>(one: One): One {
    return (this.#made.get(one) ?? this.note(one, one.copy(this))) as One
  }

  /** The copy of an object that refers to no other. */
  ofPlain<One extends object>(one: One): One {
    return (this.#made.get(one) ?? this.note(one, { ...one })) as One
  }

  /** The copy that was noted. */
  noted<One extends object>(one: One): One {
    return this.#made.get(one) as One
  }

  /** Notes a copy whose parts are still to be copied. Call it first if they refer back to the object. */
  note<One extends object>(one: object, made: One): One {
    this.#made.set(one, made)
    return made
  }
}
