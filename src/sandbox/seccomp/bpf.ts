/**
 * A tiny assembler for classic BPF as seccomp reads it: 8 bytes per instruction, little endian (x86_64 and arm64 both are).
 * Only straight forward jumps over the next few instructions are used, so a program reads top to bottom.
 */
export interface Instruction {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

export const ALLOW = 0x7fff0000;
export const KILL_PROCESS = 0x80000000;

const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_BITS = 0x45;
const RETURN = 0x06;

/** Offsets into `struct seccomp_data`. */
const NUMBER_OFFSET = 0;
const ARCH_OFFSET = 4;
const ARGUMENTS_OFFSET = 16;

export const loadNumber = (): Instruction => step(LOAD_WORD, NUMBER_OFFSET);
export const loadArch = (): Instruction => step(LOAD_WORD, ARCH_OFFSET);
/** The low 32 bits of an argument: the kernel ignores the upper half of every value we look at. */
export const loadArgument = (index: number): Instruction => step(LOAD_WORD, ARGUMENTS_OFFSET + 8 * index);
export const and = (mask: number): Instruction => step(AND, mask);
export const give = (result: number): Instruction => step(RETURN, result);
export const errno = (code: number): number => 0x00050000 | code;

/** Runs `body` when the loaded word equals `value`, else skips it. */
export const whenEqual = (value: number, body: readonly Instruction[]): Instruction[] => when(JUMP_EQUAL, value, body);
export const whenAtLeast = (value: number, body: readonly Instruction[]): Instruction[] =>
  when(JUMP_AT_LEAST, value, body);
export const whenAnyBit = (mask: number, body: readonly Instruction[]): Instruction[] => when(JUMP_BITS, mask, body);
/** Runs `body` unless the loaded word equals `value`. */
export const unlessEqual = (value: number, body: readonly Instruction[]): Instruction[] => [
  { code: JUMP_EQUAL, jt: jump(body), jf: 0, k: value },
  ...body,
];

export function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach((line, index) => {
    bytes.writeUInt16LE(line.code, index * 8);
    bytes.writeUInt8(line.jt, index * 8 + 2);
    bytes.writeUInt8(line.jf, index * 8 + 3);
    bytes.writeUInt32LE(line.k >>> 0, index * 8 + 4);
  });
  return bytes;
}

function step(code: number, k: number): Instruction {
  return { code, jt: 0, jf: 0, k };
}

function when(code: number, value: number, body: readonly Instruction[]): Instruction[] {
  return [{ code, jt: 0, jf: jump(body), k: value }, ...body];
}

function jump(body: readonly Instruction[]): number {
  if (body.length > 255) throw new RangeError('a BPF jump spans at most 255 instructions');
  return body.length;
}
