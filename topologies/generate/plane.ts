import type { UniformRandom } from '../random.ts'

/** A place on the plane. */
export type PlanePoint = readonly [x: number, y: number]

/** Side of INET's plane. */
export const planeSide = 10_000

/** ModelNet reads lengths on INET's plane as kilometres, and a packet travels this many in a millisecond. */
export const lengthPerMs = 300

/** Uniform on the points of the plane with whole coordinates. */
export const anywhere = (random: UniformRandom): PlanePoint => [coordinate(random), coordinate(random)]

/** Uniform in a circle around a place. */
export const near = (random: UniformRandom, [x, y]: PlanePoint, radius: number): PlanePoint => {
  const angle = random() * 2 * Math.PI
  const distance = Math.sqrt(random()) * radius
  return [Math.round(x + distance * Math.cos(angle)), Math.round(y + distance * Math.sin(angle))]
}

/** The `index`-th of `count` places that are evenly spread on a circle around the middle of the plane. */
export const onCircle = (index: number, count: number, radius: number): PlanePoint => {
  const angle = (2 * Math.PI * index) / count
  return [Math.round(planeSide / 2 + radius * Math.cos(angle)), Math.round(planeSide / 2 + radius * Math.sin(angle))]
}

/** Travel time of a packet in milliseconds. The length is truncated to a whole number, as in INET. */
export const travelMs = ([x, y]: PlanePoint, [toX, toY]: PlanePoint): number =>
  Math.trunc(Math.hypot(x - toX, y - toY)) / lengthPerMs

const coordinate = (random: UniformRandom) => Math.floor(random() * (planeSide + 1))
