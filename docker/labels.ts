import { readFileSync, readlinkSync } from 'node:fs'
import type Docker from 'dockerode'
import { identity } from '../harness/files/run-directory.ts'
import { httpStatusOf } from './error.ts'

/** Labels of one engine's containers: which process made them, and where its id is valid. */
export type Labels = Readonly<Record<string, string>>

const ownerLabel = 'lastnail.owner'
const placeLabel = 'lastnail.place'
const ordinalLabel = 'lastnail.ordinal'

/** Process ids begin again with each boot and in each pid namespace. */
const place = (): string =>
  `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`

let ordinal = 0

/** Labels that differ from those of all other engines. */
export const newLabels = (): Labels => ({
  [ownerLabel]: identity(process.pid),
  [placeLabel]: place(),
  [ordinalLabel]: String(ordinal++),
})

/** All containers with these labels, running or not. */
export const labelled = (docker: Docker, labels: Labels): Promise<Docker.ContainerInfo[]> =>
  docker.listContainers({
    all: true,
    filters: { label: Object.entries(labels).map(([name, value]) => `${name}=${value}`) },
  })

export const removeContainers = async (docker: Docker, labels: Labels): Promise<void> => {
  await Promise.all((await labelled(docker, labels)).map(({ Id }) => remove(docker, Id)))
}

/** Removes the containers of processes that have ended. */
export const removeStale = async (docker: Docker): Promise<void> => {
  const all = await labelled(docker, { [placeLabel]: place() })
  const stale = all.filter(({ Labels }) => identity(Number(Labels[ownerLabel]!.split('-')[0])) !== Labels[ownerLabel])
  await Promise.all(stale.map(({ Id }) => remove(docker, Id)))
}

const [goneAlready, beingRemoved] = [404, 409]

const remove = async (docker: Docker, id: string): Promise<void> => {
  try {
    await docker.getContainer(id).remove({ force: true, v: true })
  } catch (error) {
    if (![goneAlready, beingRemoved].includes(httpStatusOf(error) ?? 0)) throw error
  }
}
