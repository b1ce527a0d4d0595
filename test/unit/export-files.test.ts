import { expect, it } from "vitest";

import { filesOf } from "../../functions/console/app/export-files.ts";

async function* parts(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

const heading = '"a,b",name\r\n';

it.each([
  ["an empty list", 3, [heading], [heading]],
  ["the most rows", 2, [`${heading}1,2\r\n3,4\r\n`], [`${heading}1,2\r\n3,4\r\n`]],
  [
    "a line break in a cell, which is no row",
    3,
    [`${heading}1,"x\r\ny ""z\r\n"""\r\n`, "3,4\r\n"],
    [`${heading}1,"x\r\ny ""z\r\n"""\r\n3,4\r\n`],
  ],
  [
    "more rows, whose next file begins with the names of the columns",
    3,
    [`${heading}1,2\r\n3,4\r\n`, "5,6\r\n", "7,8\r\n", "9,0\r\n"],
    [`${heading}1,2\r\n3,4\r\n5,6\r\n`, `${heading}7,8\r\n9,0\r\n`],
  ],
  ["a part that is larger than a file", 1, [`${heading}1,2\r\n3,4\r\n`], [`${heading}1,2\r\n3,4\r\n`]],
])("an export is saved with %s", async (_, rowsOfFile, texts, expected) => {
  const files: string[] = [];
  for await (const file of filesOf(parts(...texts), rowsOfFile)) files.push(file.join(""));
  expect(files).toEqual(expected);
});
