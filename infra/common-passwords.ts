import { writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync } from "node:zlib";

import { dictionary } from "@zxcvbn-ts/language-common";

import { projectRoot } from "./project-root.ts";

// `npm run common-passwords` packs the list of passwords that functions compare new ones with. It is run when the package
// that the list comes from has a new version.

/** Where functions load it from. */
export const packedFile = path.join(projectRoot, "shared/platform/auth/common-passwords-list.ts");

/** So many of the first are packed whatever their length: words are made into passwords with digits and signs. */
const leadingCount = 10_000;
const minWordCharacters = 4;

/** No password is shorter. */
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

/** The source of the module that has them. */
export function packedModule(): string {
  let before = "";
  const lines = packedPasswords().map((each) => {
    let shared = 0;
    while (shared < 35 && shared < before.length && each[shared] === before[shared]) shared += 1;
    before = each;
    return shared.toString(36) + each.slice(shared);
  });
  const packed = brotliCompressSync(lines.join("\n")).toString("base64");
  return `// Made by infra/common-passwords.ts from @zxcvbn-ts/language-common 4.1.3, https://github.com/zxcvbn-ts/zxcvbn, which
// counts passwords in published leaks. MIT License. Copyright (c) 2012-2016 Dan Wheeler and Dropbox, Inc. Copyright
// (c) 2021 @zxcvbn-ts. Permission is granted, free of charge, to deal in it without restriction. It comes without warranty of
// any kind.

/**
 * Common passwords in lower case and text order. Each begins with a digit to the base 36: how many characters it has in
 * common with the one before it. Brotli in base64.
 */
export const packedCommonPasswords =
  "${packed}";
`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  await writeFile(packedFile, packedModule());
