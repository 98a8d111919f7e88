/**
 * Milliseconds of a time such as `10 ms`, or of seconds, Shadow's base unit, if it has no unit. `undefined` if it is
 * not a time.
 */
export const parseTime = (text: string): number | undefined => {
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)\s*([a-zμ]+)?$/.exec(text.trim()) ?? []
  const found = timeUnits.find(({ names }) => names.includes(unit))
  return number === undefined || found === undefined ? undefined : (Number(number) * found.ns) / 1e6
}

/** Milliseconds of a change such as `+1h` or `-2s`, at most 30 days. `undefined` if it is none. */
export const parseJump = (text: string): number | undefined => {
  const [, sign, time = ''] = /^([+-])(\d.*)$/.exec(text.trim()) ?? []
  const ms = parseTime(time)
  if (sign === undefined || ms === undefined || ms === 0 || ms > jumpMsMax) return undefined
  return sign === '-' ? -ms : ms
}

/** A farther one would leave the times that a node's timers can have. */
export const jumpMsMax = 30 * 24 * 3_600_000

/** Bits a second of a bandwidth such as `100 Mbit`. `undefined` if it is not a bandwidth. */
export const parseBandwidth = (text: string): number | undefined => {
  const [, number, prefix] = /^(\d+(?:\.\d+)?)\s*([a-z]*?)\s*bits?$/i.exec(text.trim()) ?? []
  const scale = prefix === undefined ? undefined : prefixes[prefix.toLowerCase()]
  return number === undefined || scale === undefined ? undefined : Number(number) * scale
}

/**
 * A time in Shadow's notation, to the nanosecond: a whole number in the largest unit, up to seconds, that allows it.
 */
export const formatTime = (ms: number): string => {
  const ns = Math.round(ms * 1e6)
  const unit = timeUnits.find(unit => ns % unit.ns === 0)!
  return `${ns / unit.ns} ${unit.names[0]}`
}

/** A bandwidth in Shadow's notation, in whole bits. */
export const formatBandwidth = (bandwidth: number): string => `${Math.round(bandwidth)} bit`

const timeUnits: readonly { readonly ns: number; readonly names: readonly string[] }[] = [
  { ns: 1e9, names: ['s', 'sec', 'secs', 'second', 'seconds'] },
  { ns: 1e6, names: ['ms', 'millisecond', 'milliseconds'] },
  { ns: 1e3, names: ['us', 'μs', 'microsecond', 'microseconds'] },
  { ns: 1, names: ['ns', 'nanosecond', 'nanoseconds'] },
  { ns: 60e9, names: ['min', 'm', 'mins', 'minute', 'minutes'] },
  { ns: 3600e9, names: ['h', 'hr', 'hrs', 'hour', 'hours'] },
]

const prefixes: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  kilo: 1e3,
  ki: 2 ** 10,
  kibi: 2 ** 10,
  m: 1e6,
  mega: 1e6,
  mi: 2 ** 20,
  mebi: 2 ** 20,
  g: 1e9,
  giga: 1e9,
  gi: 2 ** 30,
  gibi: 2 ** 30,
  t: 1e12,
  tera: 1e12,
  ti: 2 ** 40,
  tebi: 2 ** 40,
}
