import { ignoredFields } from './fields.ts'
import type { Compose, ComposeService } from './schema.ts'

/** One line for each field that is ignored here or has another meaning. */
export const composeNotesOf = (file: string, { services, volumes }: Compose): string[] => [
  ...Object.entries(volumes ?? {}).flatMap(([name, volume]) =>
    volume?.external
      ? [`${file}: volumes.${name}.external: the volume begins empty, whatever other containers wrote into it`]
      : [],
  ),
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

/** What a service says of its deployment that is not used. */
const deployed = ({ deploy }: ComposeService): string[] =>
  Object.keys(deploy).filter(field => field !== 'replicas' && field !== 'resources')
