/** A mapping of a compose file, as it is written. */
export type Mapping = Readonly<Record<string, unknown>>

export const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * A service that extends another one (Compose specification, "Merge and override"): mappings are merged, lists appended, and
 * all else is overridden, as are commands. Of volumes and ports with the same place, the extending service's is kept.
 */
export const merged = (base: Mapping, own: Mapping): Mapping =>
  Object.fromEntries(
    [...new Set([...Object.keys(base), ...Object.keys(own)])].map(name => [
      name,
      mergedField(name, base[name], own[name]),
    ]),
  )

/** Commands, of which no half makes sense. */
const overridden: ReadonlySet<string> = new Set(['command', 'entrypoint', 'test'])

const mergedField = (name: string, base: unknown, own: unknown): unknown => {
  if (own === undefined) return base
  if (base === undefined || overridden.has(name)) return own
  if (variables.has(name)) return merged(asMapping(base), asMapping(own))
  if (isMapping(base) && isMapping(own)) return merged(base, own)
  if (isMapping(base) !== isMapping(own) && byName.has(name)) return merged(asNames(base), asNames(own))
  if (!Array.isArray(base) && !Array.isArray(own) && !lists.has(name)) return own
  return unique(name, [base, own].flat())
}

/** Fields that may be a list of `NAME=value`, or a mapping. */
const variables: ReadonlySet<string> = new Set(['environment', 'labels', 'annotations', 'sysctls'])
/** Fields that may be a list of names, or a mapping of these to more. */
const byName: ReadonlySet<string> = new Set(['depends_on', 'networks'])
/** Fields that may be one text in place of a list. */
const lists: ReadonlySet<string> = new Set(['tmpfs', 'env_file', 'dns', 'dns_search', 'label_file'])

const asMapping = (value: unknown): Mapping => {
  if (isMapping(value)) return value
  if (!Array.isArray(value)) return {}
  return Object.fromEntries(
    value.map(String).map(line => {
      const at = line.indexOf('=')
      return at < 0 ? [line, null] : [line.slice(0, at), line.slice(at + 1)]
    }),
  )
}

const asNames = (value: unknown): Mapping =>
  isMapping(value) ? value : Object.fromEntries([value].flat().map(name => [String(name), {}]))

/** Of those with the same place, the last one, where the first one was. */
const unique = (name: string, entries: readonly unknown[]): unknown[] => {
  const placed = new Map<unknown, unknown>()
  for (const entry of entries) placed.set(placeOf(name, entry), entry)
  return [...placed.values()]
}

/** What may be there only once: where something is mounted, or a whole entry. */
const placeOf = (name: string, entry: unknown): unknown => {
  if (name !== 'volumes' && name !== 'secrets' && name !== 'configs') return JSON.stringify(entry)
  if (isMapping(entry)) return entry.target ?? entry.source
  const [first, target] = String(entry).split(':')
  return name === 'volumes' ? (target ?? first) : entry
}
