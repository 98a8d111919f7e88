import { readFileSync } from 'node:fs'
import type { ProcessMemory } from '../../../linux/memory.ts'
import { replacementAddress } from './clock-page.ts'

const auxiliary = { end: 0, random: 25, vdso: 33 } as const

/** Entries of the auxiliary vector that a process got at its exec. */
const readAuxiliaryVector = (pid: number): Map<number, number> => {
  const bytes = readFileSync(`/proc/${pid}/auxv`)
  const entries = new Map<number, number>()
  for (let offset = 0; offset + 16 <= bytes.length; offset += 16) {
    entries.set(Number(bytes.readBigUInt64LE(offset)), Number(bytes.readBigUInt64LE(offset + 8)))
  }
  return entries
}

/** Replaces the bytes from which libraries seed themselves at start, so that they repeat. */
export const seedStart = (pid: number, memory: ProcessMemory, bytes: Buffer): void => {
  const address = readAuxiliaryVector(pid).get(auxiliary.random)
  if (address !== undefined) memory.write(address, bytes.subarray(0, 16))
}

/** Overwrites the functions of the process's vDSO with jumps to the clock page. */
export const patchVdso = (pid: number, memory: ProcessMemory): void => {
  const base = readAuxiliaryVector(pid).get(auxiliary.vdso)
  if (base === undefined) return
  for (const { name, address } of functionsOf(memory, base)) {
    const target = replacementAddress(name.replace(/^__vdso_/, ''))
    if (target !== undefined) memory.write(address, jumpTo(target))
  }
}

/** movabs rax, target; jmp rax */
const jumpTo = (target: number): Buffer => {
  const code = Buffer.from('48b80000000000000000ffe0', 'hex')
  code.writeBigUInt64LE(BigInt(target), 2)
  return code
}

/** Bytes that are read of a vDSO at most; fewer where it is shorter. */
const longestVdso = 16384

/** Name and address of each function in a vDSO's dynamic symbol table (ELF64, little endian). */
const functionsOf = (memory: ProcessMemory, base: number): { name: string; address: number }[] => {
  const image = readImage(memory, base)
  const word = (offset: number) => Number(image.readBigUInt64LE(offset))
  const sectionTable = word(0x28)
  const sectionSize = image.readUInt16LE(0x3a)
  const sections = Array.from({ length: image.readUInt16LE(0x3c) }, (_, index) => sectionTable + index * sectionSize)
  const symbols = sections.find(section => image.readUInt32LE(section + 4) === 11)
  if (symbols === undefined) return []
  const strings = sections[image.readUInt32LE(symbols + 40)] as number
  const stringsStart = word(strings + 24)
  const found: { name: string; address: number }[] = []
  for (let at = word(symbols + 24); at < word(symbols + 24) + word(symbols + 32); at += 24) {
    const name = stringsStart + image.readUInt32LE(at)
    const value = word(at + 8)
    if (value !== 0) found.push({ name: image.toString('latin1', name, image.indexOf(0, name)), address: base + value })
  }
  return found
}

/** A vDSO has two to four pages; tries the largest size first. */
const readImage = (memory: ProcessMemory, base: number): Buffer => {
  for (let length = longestVdso; ; length -= 4096) {
    try {
      return memory.read(base, length)
    } catch (error) {
      if (length === 4096) throw error
    }
  }
}
