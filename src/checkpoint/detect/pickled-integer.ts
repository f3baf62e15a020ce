/**
 * Finds `key` in the beginning of a pickle and returns the integer pickled right after it: a dictionary's value follows its key. Reads
 * opcodes only, executes nothing.
 */
export function readPickledInteger(bytes: Buffer, key: string): number | undefined {
  const text = Buffer.from(key, "utf8");
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
    const value = integerAt(bytes, skipMemo(bytes, at + text.length));
    // The text must be a whole string: its length stands before it (BINUNICODE or SHORT_BINUNICODE).
    if (value !== undefined && isWholeString(bytes, at, text.length)) return value;
  }
  return undefined;
}

function isWholeString(bytes: Buffer, at: number, length: number): boolean {
  const long = at >= 5 && bytes[at - 5] === 0x58 && bytes.readUInt32LE(at - 4) === length;
  const short = at >= 2 && bytes[at - 2] === 0x8c && bytes[at - 1] === length;
  return long || short;
}

/** BINPUT, LONG_BINPUT and MEMOIZE may stand between a key and its value. */
function skipMemo(bytes: Buffer, at: number): number {
  const opcode = bytes[at];
  return opcode === 0x71 ? at + 2 : opcode === 0x72 ? at + 5 : opcode === 0x94 ? at + 1 : at;
}

function integerAt(bytes: Buffer, at: number): number | undefined {
  const left = bytes.length - at - 1;
  switch (bytes[at] ?? -1) {
    case 0x4b: // BININT1
      return left >= 1 ? bytes[at + 1] : undefined;
    case 0x4d: // BININT2
      return left >= 2 ? bytes.readUInt16LE(at + 1) : undefined;
    case 0x4a: {
      // BININT
      const value = left >= 4 ? bytes.readInt32LE(at + 1) : -1;
      return value >= 0 ? value : undefined;
    }
    case 0x8a: {
      // LONG1: a length, then that many bytes
      const length = bytes[at + 1] ?? 0;
      return length >= 1 && length <= 6 && left >= 1 + length ? bytes.readUIntLE(at + 2, length) : undefined;
    }
    default:
      return undefined;
  }
}
