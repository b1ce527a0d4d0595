import { inflateSync } from "node:zlib";

/** Reads the text of a PDF as a viewer copies it: the lines of each page, in the order in which they are drawn. */
export function linesOfPdf(file: Uint8Array): string[][] {
  const source = Buffer.from(file).toString("latin1");
  const objects = new Map(
    [...source.matchAll(/^(\d+) 0 obj\n([\s\S]*?)\nendobj$/gm)].map(([, id = "", content = ""]) => [
      id,
      content,
    ]),
  );
  const streamOf = (id: string): string => {
    const stream = /stream\n([\s\S]*)\nendstream/.exec(objects.get(id) ?? "")?.[1] ?? "";
    return inflateSync(Buffer.from(stream, "latin1")).toString("latin1");
  };
  const characters = new Map(
    [...source.matchAll(/\/(F\d+) (\d+) 0 R/g)].map(([, name = "", id = ""]) => {
      const mapId = /\/ToUnicode (\d+) 0 R/.exec(objects.get(id) ?? "")?.[1] ?? "";
      return [name, charactersIn(streamOf(mapId))] as const;
    }),
  );
  return [...objects.values()]
    .filter((content) => /\/Type \/Page$/m.test(content))
    .map((page) => linesIn(streamOf(/\/Contents (\d+) 0 R/.exec(page)?.[1] ?? ""), characters));
}

/** Returns the names of the fonts in a PDF, in the order in which they are used. */
export function fontsOfPdf(file: Uint8Array): string[] {
  const names = Buffer.from(file)
    .toString("latin1")
    .matchAll(/\/FontName \/\w+\+(\w+)-/g);
  return [...new Set(Array.from(names, ([, name = ""]) => name))];
}

/** Returns the characters of a font by its glyphs. */
function charactersIn(map: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, first = "", list = ""] of map.matchAll(/<(\w{4})> <\w{4}> \[([^\]]*)\]/g)) {
    [...list.matchAll(/<([\w ]*)>/g)].forEach(([, text = ""], index) => {
      const glyph = (parseInt(first, 16) + index).toString(16).padStart(4, "0");
      const units = Buffer.from(text.replaceAll(" ", ""), "hex");
      found.set(glyph, units.swap16().toString("utf16le"));
    });
  }
  return found;
}

function linesIn(content: string, fonts: ReadonlyMap<string, ReadonlyMap<string, string>>): string[] {
  return [...content.matchAll(/^BT$([\s\S]*?)^ET$/gm)].map(([, text = ""]) => {
    const font = fonts.get(/\/(F\d+) [\d.]+ Tf/.exec(text)?.[1] ?? "");
    const glyphs = [...text.matchAll(/<([0-9a-f]+)>/g)].flatMap(([, hex = ""]) => hex.match(/.{4}/g) ?? []);
    const characters = glyphs.map((glyph) => font?.get(glyph) ?? "?");
    // Viewers turn letters that are written from right to left.
    const isTurned = characters.some((each) => /[\p{sc=Arab}\p{sc=Hebr}]/u.test(each));
    return (isTurned ? characters.toReversed() : characters).join("");
  });
}
