import { ignoredFields } from './fields.ts'
import type { Compose, ComposeService } from './schema.ts'
import { isBind } from './volumes.ts'

/** One line for each field that is ignored here or has another meaning. */
export const composeNotesOf = (file: string, { services, volumes }: Compose): string[] => [
  ...Object.entries(volumes ?? {}).flatMap(([name, volume]) =>
    volume?.external
      ? [`${file}: volumes.${name}.external: the volume begins empty, whatever other containers wrote into it`]
      : [],
  ),
  ...copyNotes(file, services),
  ...Object.entries(services).flatMap(([name, service]) => {
    const note = (field: string, why: string) => `${file}: services.${name}.${field}: ${why}`
    const fields = Object.entries(ignoredFields)
      .filter(([field]) => service[field as keyof ComposeService] !== undefined)
      .map(([field, why]) => note(field, why))
    const check = Object.keys(service.healthcheck ?? {}).filter(field => field !== 'test' && field !== 'disable')
    return [
      ...fields,
      ...(service.networks === undefined ? [] : [note('networks', 'all nodes are on one network')]),
      ...(service.ports.length > 0 ? [note('ports', ignoredFields.expose)] : []),
      ...(check.length > 0 ? [note('healthcheck', `${check.join(', ')}: a start is over when the test succeeds`)] : []),
      ...deployed(service).map(field =>
        note(`deploy.${field}`, field === 'restart_policy' ? ignoredFields.restart : 'nothing is deployed'),
      ),
    ]
  }),
]

/** Several services mount the same directory of this machine, to which at least one writes. */
const copyNotes = (file: string, services: Compose['services']): string[] =>
  Object.entries(services).flatMap(([name, { volumes }]) =>
    volumes.filter(isBind).flatMap(({ source, isReadOnly }) => {
      if (isReadOnly) return []
      const others = Object.entries(services).filter(
        ([other, service]) => other !== name && service.volumes.some(each => isBind(each) && each.source === source),
      )
      if (others.length === 0) return []
      const have = others.length === 1 ? 'has' : 'have'
      const which = `${others.map(([other]) => other).join(', ')} ${have} another copy`
      return [`${file}: services.${name}.volumes: what it writes to ${source} is its own: ${which}`]
    }),
  )

/** What a service says of its deployment that is not used. */
const deployed = ({ deploy }: ComposeService): string[] =>
  Object.keys(deploy).filter(field => field !== 'replicas' && field !== 'resources')
