import type { NodeHandle } from 'lastnail'

/** Asks for the IPv4 address of a name (RFC 1035) and gives the code of the answer. */
export const lookUp = async (node: NodeHandle, name: string): Promise<number> => {
  const labels = name.split('.').map(label => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'))
  const header = Buffer.from('000701000001000000000000', 'hex')
  const answer = await node.udp(53, Buffer.concat([header, ...labels, Buffer.from('0000010001', 'hex')]))
  return answer[3]! & 0xf
}
