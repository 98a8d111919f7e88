const loadAddress = 0x40_0000n
const headersSize = 64 + 56

/** Machine code from lines of hexadecimal bytes, each with its mnemonics after a `#`. */
export const machineCode = (lines: string): Buffer => Buffer.from(lines.replaceAll(/#.*$|\s/gm, ''), 'hex')

/** A static program of x86-64: an ELF header, one segment that is the whole file, and the code. */
export const staticProgram = (code: Buffer): Buffer => {
  const file = Buffer.concat([Buffer.alloc(headersSize), code])
  file.write('\x7fELF\x02\x01\x01', 'latin1')
  file.writeUInt16LE(2, 16) // an executable
  file.writeUInt16LE(62, 18) // x86-64
  file.writeUInt32LE(1, 20)
  file.writeBigUInt64LE(loadAddress + BigInt(headersSize), 24)
  file.writeBigUInt64LE(64n, 32)
  file.writeUInt16LE(64, 52)
  file.writeUInt16LE(56, 54)
  file.writeUInt16LE(1, 56)
  file.writeUInt32LE(1, 64) // to be loaded
  file.writeUInt32LE(5, 68) // to be read and executed
  file.writeBigUInt64LE(loadAddress, 80)
  file.writeBigUInt64LE(loadAddress, 88)
  file.writeBigUInt64LE(BigInt(file.length), 96)
  file.writeBigUInt64LE(BigInt(file.length), 104)
  file.writeBigUInt64LE(4096n, 112)
  return file
}
