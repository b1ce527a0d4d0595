import { writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync } from "node:zlib";

import { dictionary } from "@zxcvbn-ts/language-common";

import { projectRoot } from "./project-root.ts";

// `npm run common-passwords` packs the list of passwords with which functions compare new ones. Run it when the package of
// the list has a new version.

/** The module from which functions load it. */
export const packedFile = path.join(projectRoot, "shared/platform/auth/common-passwords-list.ts");

/** The number of first passwords that are packed regardless of length: with digits and signs words become passwords. */
const leadingCount = 10_000;
const minWordCharacters = 4;

/** The least length of a password. */
const minPasswordCharacters = 8;

/** The passwords that are packed, in text order. */
export function packedPasswords(): string[] {
  const all = dictionary["passwords-common"];
  const packed = all.filter(
    ({ length }, index) =>
      length >= minPasswordCharacters || (index < leadingCount && length >= minWordCharacters),
  );
  return [...new Set(packed.map((each) => each.toLowerCase()))].toSorted();
}

/** Returns the source of the module with them. */
export function packedModule(): string {
  let before = "";
  const lines = packedPasswords().map((each) => {
    let shared = 0;
    while (shared < 35 && shared < before.length && each[shared] === before[shared]) shared += 1;
    before = each;
    return shared.toString(36) + each.slice(shared);
  });
  const packed = brotliCompressSync(lines.join("\n")).toString("base64");
  return `// Made by infra/build/common-passwords.ts from @zxcvbn-ts/language-common 4.1.3, https://github.com/zxcvbn-ts/zxcvbn, which
// counts passwords in published leaks. MIT License. Copyright (c) 2012-2016 Dan Wheeler and Dropbox, Inc. Copyright
// (c) 2021 @zxcvbn-ts. Permission is granted, free of charge, to deal in it without restriction. It comes without warranty of
// any kind.

/**
 * Common passwords in lower case and text order. Each begins with a digit to the base 36: the number of characters that it
 * has in common with the one before it. Brotli in base64.
 */
export const packedCommonPasswords =
  "${packed}";
`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  await writeFile(packedFile, packedModule());
