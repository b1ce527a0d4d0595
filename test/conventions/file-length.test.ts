import { glob, readFile } from "node:fs/promises";

import { expect, it } from "vitest";

const maxLines = 300;

it(`no source file is longer than ${maxLines} lines`, async () => {
  const longer: string[] = [];
  for await (const file of glob("{functions,infra,shared}/**/*.{ts,tsx,css}")) {
    const lines = (await readFile(file, "utf8")).split("\n").length - 1;
    if (lines > maxLines && !file.includes("node_modules/")) longer.push(`${file}: ${lines}`);
  }
  expect(longer).toEqual([]);
});
