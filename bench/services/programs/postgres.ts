import type { NodeHandle } from 'lastnail'
import { talk } from './talk.ts'

const message = (type: string, ...fields: readonly (number | string)[]): Buffer => {
  const body = Buffer.concat(
    fields.map(field => (typeof field === 'string' ? Buffer.from(`${field}\0`) : uint32(field))),
  )
  return Buffer.concat([Buffer.from(type), uint32(body.length + 4), body])
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Ends the answer to the connection, and that to each query. */
const ready = 'Z\0\0\0\x05I'
const answersIn = (heard: Buffer): string[] => heard.toString('latin1').split(ready).slice(0, -1)

/** Asks over a connection of its own; gives the texts in what comes back. */
export const query = async (node: NodeHandle, text: string): Promise<string> => {
  const said = [message('', 0x3_0000, 'user', 'postgres', ''), message('Q', text)]
  const heard = await talk(node, 5432, Buffer.concat(said), bytes => answersIn(bytes).length === 2)
  return answersIn(heard)[1]!.replace(/[^ -~]+/g, ' ')
}
