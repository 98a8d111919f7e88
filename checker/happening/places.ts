/** Where a message is split, as proxy/borders.ts has it, which this room does not import. */
const places = ['first', 'half', 'last'] as const

/** Reads `at half`; undefined for any other words. */
export const placeSaidIn = (said: string): (typeof places)[number] | undefined =>
  places.find(place => said === `at ${place}`)
