import { glob, readFile } from "node:fs/promises";

import { expect, it } from "vitest";

/** Files outside the table layer, without the local gateway, which has a store of its own. */
async function productFiles(): Promise<{ readonly name: string; readonly source: string }[]> {
  const files: { readonly name: string; readonly source: string }[] = [];
  for await (const name of glob("{functions,infra,shared}/**/*.{ts,tsx}")) {
    if (/^shared\/platform\/table\/|^infra\/local\//.test(name)) continue;
    files.push({ name, source: await readFile(name, "utf8") });
  }
  expect(files.length).toBeGreaterThan(300);
  return files;
}

/** Parts of an expression in DynamoDB's language: a function on a field, or a comparison with a placeholder. */
const expression =
  /attribute_(?:not_)?(?:exists|type)|if_not_exists|begins_with\s*\(|(?:contains|size)\s*\(#|(?:[\w)] (?:=|<>|<=?|>=?)|\bIN \(|\bBETWEEN) [:#][a-z]/;

it("only the table layer writes expressions of DynamoDB", async () => {
  const found = (await productFiles()).flatMap(({ name, source }) =>
    source
      .split("\n")
      .filter((line) => expression.test(line))
      .map((line) => `${name}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

it("only the table layer sends commands of the product to DynamoDB", async () => {
  const senders = (await productFiles())
    .filter(({ name, source }) =>
      name.startsWith("infra/")
        ? source.includes("/aws/dynamodb.ts")
        : /\/aws\/dynamodb\.ts"|^import \{.*"@aws-sdk\/(?:lib|client)-dynamodb"/m.test(source),
    )
    .map(({ name }) => name);
  expect(senders).toEqual([]);
});
