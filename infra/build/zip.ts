import { crc32, deflateRawSync } from "node:zlib";

/** Returns a ZIP archive of files, by their ASCII names. The same files make the same archive, because it has no times. */
export function zipOf(files: ReadonlyMap<string, Buffer>): Buffer {
  const entries: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of files) {
    const data = deflateRawSync(content);
    // Both headers have these fields: version, flags, method, date, checksum, sizes, and the lengths of the names.
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt16LE(0x21, 8);
    fields.writeUInt32LE(crc32(content), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(content.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    const entry = Buffer.concat([Buffer.from("PK\u0003\u0004"), fields, Buffer.from(name), data]);
    directory.push(Buffer.from("PK\u0001\u0002\u0014\0"), fields, place, Buffer.from(name));
    entries.push(entry);
    offset += entry.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.size, 4);
  end.writeUInt16LE(files.size, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...entries, listed, Buffer.from("PK\u0005\u0006"), end]);
}
