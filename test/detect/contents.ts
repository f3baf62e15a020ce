/** Bytes of a given size that are a valid file of the kind its name says, so that every proper prefix (or hole) is not. */
export function contentFor(name: string, size: number, seed = 1): Buffer {
  if (/\.safetensors$/.test(name)) return safetensors(size, seed);
  if (/\.(?:pt|pth|ckpt|keras|npz|bin|pkl)$/.test(name)) return zip(size, seed);
  if (/\.json$|^_CHECKPOINT_METADATA$/.test(name)) return json(size, seed);
  if (/\.npy$/.test(name)) return npy(size, seed);
  if (/\.h5$/.test(name)) return hdf5(size, seed);
  return filler(size, seed);
}

/** Never zeros, so that a hole shows. */
export function filler(size: number, seed: number): Buffer {
  return Buffer.alloc(size, `byte-${seed}.`);
}

/** A stored (uncompressed) archive of one member, as torch.save makes them. */
export function zip(
  size: number,
  seed: number,
  member: Buffer = filler(Math.max(0, size - zipOverhead), seed),
): Buffer {
  const name = Buffer.from("archive/data.pkl");
  const local = Buffer.alloc(30 + name.length);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt32LE(member.length, 18);
  local.writeUInt32LE(member.length, 22);
  local.writeUInt16LE(name.length, 26);
  name.copy(local, 30);
  const central = Buffer.alloc(46 + name.length);
  central.writeUInt32LE(0x02014b50, 0);
  central.writeUInt32LE(member.length, 20);
  central.writeUInt32LE(member.length, 24);
  central.writeUInt16LE(name.length, 28);
  name.copy(central, 46);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length + member.length, 16);
  return Buffer.concat([local, member, central, end]);
}

/** Bytes of an archive besides its member. */
export const zipOverhead = 30 + 16 + 46 + 16 + 22;

function safetensors(size: number, seed: number): Buffer {
  // The header is padded with spaces, as the library does, so that any size can be made.
  const room = Math.max(120, Math.min(size, 128));
  const data = Math.max(0, size - 8 - room);
  const header = JSON.stringify({ w: { dtype: "U8", shape: [data], data_offsets: [0, data] } }).padEnd(room, " ");
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(room));
  return Buffer.concat([length, Buffer.from(header), filler(data, seed)]);
}

function json(size: number, seed: number): Buffer {
  const head = `{"seed": ${seed}, "pad": "`;
  return Buffer.from(`${head}${"x".repeat(Math.max(0, size - head.length - 2))}"}`);
}

function npy(size: number, seed: number): Buffer {
  const data = Math.max(0, size - 128);
  const header = `{'descr': '|u1', 'fortran_order': False, 'shape': (${data},), }`.padEnd(117, " ");
  return Buffer.concat([
    Buffer.from("\x93NUMPY\x01\x00\x76\x00", "latin1"),
    Buffer.from(`${header}\n`),
    filler(data, seed),
  ]);
}

function hdf5(size: number, seed: number): Buffer {
  const bytes = filler(Math.max(96, size), seed);
  bytes.write("\x89HDF\r\n\x1a\n", 0, "latin1");
  bytes.fill(0, 8, 96);
  bytes[13] = 8;
  bytes[14] = 8;
  // Superblock version 0: the end-of-file address stands at 24 + 2 × 8.
  bytes.writeBigUInt64LE(BigInt(bytes.length), 40);
  return bytes;
}
