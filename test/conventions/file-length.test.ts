import { glob, readFile } from "node:fs/promises";

import { expect, it } from "vitest";

const maxLines = 300;

/** The files that are still longer. A file leaves this list when it is split, and none may join it. */
const stillLonger: readonly string[] = [
  "functions/console/app/parts/form.tsx",
  "shared/messages/record.ts",
  "shared/platform/table/table.ts",
  "shared/wallet/charge.ts",
];

it(`no source file is longer than ${maxLines} lines`, async () => {
  const longer: string[] = [];
  for await (const file of glob("{functions,infra,shared}/**/*.{ts,tsx,css}")) {
    const lines = (await readFile(file, "utf8")).split("\n").length - 1;
    const isKnown = file.includes("node_modules/") || stillLonger.includes(file);
    if (lines > maxLines && !isKnown) longer.push(`${file}: ${lines}`);
  }
  expect(longer).toEqual([]);
});
