import { closeSync, openSync, readSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { UsageError } from '../../checker/system/errors.ts'
import { noNode } from '../../harness/clients/state.ts'
import type { Controller } from './client.ts'
import { outputFile } from './output-files.ts'

const pollMs = 200

/**
 * Prints the output of a node in a running system.
 *
 * @throws UsageError for an unknown node, or a run on another machine
 */
export const showOutput = async (
  { list }: Controller,
  node: string,
  { stderr = false, follow = false }: { readonly stderr?: boolean; readonly follow?: boolean },
): Promise<void> => {
  const { directory, nodes } = await list()
  if (!nodes.some(({ name }) => name === node)) throw new UsageError(noNode(node, nodes))
  const file = openOutput(outputFile(directory, node, stderr ? 'stderr' : 'stdout'))
  try {
    const buffer = Buffer.alloc(65_536)
    for (let goesOn = true; goesOn; ) {
      // One more read after the end, because the last output came before it.
      goesOn = follow && (await sleep(pollMs, true)) && (await runs(list))
      for (let length = buffer.length; length > 0; ) {
        length = readSync(file, buffer)
        process.stdout.write(Buffer.from(buffer.subarray(0, length)))
      }
    }
  } finally {
    closeSync(file)
  }
}

const openOutput = (path: string): number => {
  try {
    return openSync(path, 'r')
  } catch (cause) {
    throw new UsageError(`cannot read ${path}: ${(cause as Error).message}`, { cause })
  }
}

const runs = (list: Controller['list']): Promise<boolean> =>
  list().then(
    () => true,
    () => false,
  )
