import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findSites, pieceSize } from '../../../harness/hold/instructions/hardware-random.ts'
import { instructionLength } from '../../../harness/hold/instructions/instruction-length.ts'
import { compile, hasCompiler, heldOutput } from './program.ts'

const hasNumbers = / rdrand .* rdseed /.test(readFileSync('/proc/cpuinfo', 'latin1'))

test.skipIf(!hasCompiler || !hasNumbers)(
  'RDRAND and RDSEED follow from the seed, of every size, also after a fork (needs cc and RDRAND)',
  async () => {
    const program = compile(
      `
    unsigned short two = 0;
    unsigned four = 0;
    unsigned long long eight = 0, seed = 0, high, kept = -1, wide = -1;
    unsigned char ok = 0;
    int drawn = _rdrand16_step(&two) + _rdrand32_step(&four) + _rdrand64_step(&eight) + _rdseed64_step(&seed);
    printf("%d %d %d %d %d\\n", drawn, two != 0, four != 0, eight >> 32 != 0, seed >> 32 != 0);
    asm volatile("rdrand %%r11\\n mov %%r11, %0\\n setc %1" : "=m"(high), "=m"(ok) : : "r11", "cc");
    asm volatile("rdrand %w0" : "+r"(kept) : : "cc");
    asm volatile("rdseed %k0" : "+r"(wide) : : "cc");
    printf("%d %d %llx %llx\\n", ok, high >> 32 != 0, kept >> 16, wide >> 32);
    printf("%x %x %llx %llx %llx %llx %llx\\n", two, four, eight, seed, high, kept, wide);
    if (fork() == 0) { _rdrand64_step(&eight); printf("%llx\\n", eight); exit(0); }
    wait(0);
    _rdrand64_step(&eight);
    printf("%llx\\n", eight);
  `,
      { functions: '#include <immintrin.h>', flags: ['-mrdrnd', '-mrdseed'] },
    )
    const { lines } = await heldOutput([program])
    expect(lines.slice(0, 2)).toEqual(['4 1 1 1 1', '1 1 ffffffffffff 0'])
    expect(new Set(lines.slice(3)).size).toBe(2)
  },
)

test.skipIf(!hasCompiler || !hasNumbers)(
  'std::random_device of a shared library does too (needs cc and RDRAND)',
  async () => {
    const program = compile('')
    execFileSync('g++', ['-x', 'c++', '-o', program, '-'], {
      input: `
      #include <random>
      #include <cstdio>
      #include <unistd.h>
      int main() {
        sleep(1);
        for (auto name : {"default", "rdrand", "rdseed"}) { std::random_device device(name); printf("%x %x\\n", device(), device()); }
        fflush(stdout);
        for (;;) pause();
      }`,
    })
    const { lines } = await heldOutput([program])
    expect(lines.length).toBe(3)
    expect(new Set(lines.join(' ').split(' ')).size).toBe(6)
  },
)

/** The lengths of a file's instructions, as binutils read them. */
const disassembled = (path: string, max: number) =>
  execFileSync('sh', ['-c', `objdump -d --insn-width=15 ${path} | head -${max}`], {
    encoding: 'latin1',
    maxBuffer: 2 ** 26,
  }).matchAll(/^ *[0-9a-f]+:\t((?:[0-9a-f]{2} )+) *\t(?!\(bad\)|\.byte|fst[cs]w)(\S+)/gm)

test.skipIf(!hasCompiler || !existsSync('/bin/bash'))(
  'instructions are as long as binutils say (needs cc and bash)',
  () => {
    const wrong = [...disassembled('/lib/x86_64-linux-gnu/libm.so.6', 60_000), ...disassembled('/bin/bash', 60_000)]
      .map(([, bytes, name]) => ({ code: Buffer.from(bytes!.replaceAll(' ', ''), 'hex'), name }))
      .filter(({ code }) => instructionLength(Buffer.concat([code, Buffer.alloc(16)]), 0) !== code.length)
      .map(({ code, name }) => `${name} ${code.toString('hex')}`)
    expect(wrong.slice(0, 20)).toEqual([])
  },
)

test('an instruction is found wherever it lies in a file that is read in pieces', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-test-'))
  const path = join(directory, 'code')
  const before = 16
  try {
    for (let begin = pieceSize - 4; begin <= pieceSize + 4; begin++) {
      const code = Buffer.alloc(before + 2 * pieceSize + 100, 0x90)
      const all = [0, begin, begin + pieceSize]
      for (const at of all) code.set([0x0f, 0xc7, 0xf0], before + at)
      writeFileSync(path, code)
      const fd = openSync(path, 'r')
      expect(findSites(fd, before, code.length - before)).toEqual(all)
      closeSync(fd)
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
})
