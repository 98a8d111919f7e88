import type { NodeHandle } from 'lastnail'

/** Writes to a port and reads until what came satisfies; rejects where the connection ends before. */
export const talk = async (
  node: NodeHandle,
  port: number,
  said: string | Uint8Array,
  isEnough: (heard: Buffer) => boolean,
): Promise<Buffer> => {
  const connection = node.tcp(port)
  try {
    connection.write(said)
    let heard = Buffer.alloc(0)
    for await (const chunk of connection) {
      heard = Buffer.concat([heard, chunk as Buffer])
      if (isEnough(heard)) return heard
    }
    throw new Error(`the connection ended after ${JSON.stringify(heard.toString('latin1'))}`)
  } finally {
    connection.destroy()
  }
}
