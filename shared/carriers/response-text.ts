import type { IncomingHttpHeaders } from "node:http";
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from "node:zlib";

/**
 * Returns the text of a response: decompressed, and in the charset that its byte order mark or its `Content-Type` names. Some
 * servers compress what no one requested. Bytes that cannot be decompressed stay as they are, so that no rule can read them.
 * @param maxBytes the most bytes of the decompressed text
 */
export function textOfResponse(bytes: Buffer, headers: IncomingHttpHeaders, maxBytes: number): string {
  const codings = (headers["content-encoding"] ?? "").toLowerCase().split(",").toReversed();
  let plain = bytes;
  try {
    for (const coding of codings) plain = decompressed(plain, coding.trim(), maxBytes);
  } catch {
    plain = bytes;
  }
  // PHP scripts begin with as many byte order marks as files that they include.
  return decoded(plain, headers["content-type"]).replace(/^\ufeff+/, "");
}

function decompressed(bytes: Buffer, coding: string, maxOutputLength: number): Buffer {
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return gunzipSync(bytes, { maxOutputLength });
    case "deflate":
      // Some servers leave out the header of zlib, whose first byte ends with this method.
      return ((bytes[0] ?? 0) % 16 === 8 ? inflateSync : inflateRawSync)(bytes, { maxOutputLength });
    case "br":
      return brotliDecompressSync(bytes, { maxOutputLength });
    default:
      return bytes;
  }
}

const byteOrderMarks = { efbbbf: "utf-8", feff: "utf-16be", fffe: "utf-16le" };

function decoded(bytes: Buffer, contentType = ""): string {
  const start = bytes.toString("hex", 0, 3);
  const [, marked] = Object.entries(byteOrderMarks).find(([mark]) => start.startsWith(mark)) ?? [];
  const [, named] = /charset\s*=\s*"?([^\s;"]+)/i.exec(contentType) ?? [];
  try {
    return new TextDecoder(marked ?? named).decode(bytes);
  } catch {
    return bytes.toString("utf8");
  }
}
