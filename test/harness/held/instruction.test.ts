import { describe, expect, test } from 'vitest'
import { mayWrite } from '../../../harness/hold/instructions/instruction.ts'

const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex')

describe('an instruction', () => {
  test.each([
    ['8b 05 00 00 00 00', 'mov eax, [rip]'],
    ['83 3d 00 00 00 00 00', 'cmp dword [rip], 0'],
    ['48 85 c0', 'test rax, rax'],
    ['f6 05 00 00 00 00 01', 'test byte [rip], 1'],
    ['74 fe', 'jz'],
    ['0f 84 00 00 00 00', 'jz'],
    ['f3 90', 'pause'],
    ['48 83 c0 01', 'add rax, 1'],
    ['01 d8', 'add eax, ebx'],
    ['0f b6 07', 'movzx eax, byte [rdi]'],
    ['f0 0f b1 0f', 'lock cmpxchg [rdi], ecx'],
    ['87 07', 'xchg [rdi], eax'],
    ['e8 00 00 00 00', 'call'],
    ['ff 25 00 00 00 00', 'jmp [rip]'],
    ['0f 1f 40 00', 'nop'],
  ])('that leaves memory as it is: %s (%s)', code => expect(mayWrite(bytes(code))).toBe(false))

  test.each([
    ['89 07', 'mov [rdi], eax'],
    ['48 83 05 00 00 00 00 01', 'add qword [rip], 1'],
    ['ff 05 00 00 00 00', 'inc dword [rip]'],
    ['f0 ff 0f', 'lock dec dword [rdi]'],
    ['f0 0f c1 07', 'lock xadd [rdi], eax'],
    ['aa', 'stosb'],
    ['f3 48 ab', 'rep stosq'],
    ['c5 f8 11 07', 'vmovups [rdi], xmm0'],
    ['0f 11 07', 'movups [rdi], xmm0'],
    ['c6 07 01', 'mov byte [rdi], 1'],
    ['ff 35 00 00 00 00', 'push [rip]'],
  ])('that may change it: %s (%s)', code => expect(mayWrite(bytes(code))).toBe(true))
})
