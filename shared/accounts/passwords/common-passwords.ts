import { brotliDecompressSync } from "node:zlib";

import { invalidField } from "../../api/contract/errors.ts";
import { config } from "../../platform/config.ts";

/** The names of this gateway, which people try first when they guess its passwords. */
const ownWords: ReadonlySet<string> = new Set(["gateway", "smsgateway"]);

/**
 * The most frequent leaked passwords: all that are long enough, and the ten thousand most frequent of any length.
 * People add digits and signs to the short ones. They are unpacked at the first check of a password.
 */
let commonPasswords: Promise<ReadonlySet<string>> | undefined;

/** Loads the list from its file beside the bundles, only on stages that check passwords. */
async function unpackCommonPasswords(): Promise<ReadonlySet<string>> {
  const { packedCommonPasswords } = await import("../../platform/auth/common-passwords-list.ts");
  let before = "";
  const passwords = brotliDecompressSync(Buffer.from(packedCommonPasswords, "base64"))
    .toString()
    .split("\n")
    .map((line) => {
      before = before.slice(0, Number.parseInt(line.slice(0, 1), 36)) + line.slice(1);
      return before;
    });
  return new Set(passwords);
}

/** Characters as they follow each other on a keyboard, in the alphabet and in counting. */
const sequences: readonly string[] = [
  "abcdefghijklmnopqrstuvwxyz",
  "01234567890123456789",
  "qwertyuiop[]",
  "qwertzuiop",
  "azertyuiop",
  "asdfghjkl;'",
  "zxcvbnm,./",
  "qwertyuiopasdfghjklzxcvbnm",
  "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/",
  "qazwsxedcrfvtgbyhnujmikolp",
  "1q2w3e4r5t6y7u8i9o0p",
  "q1w2e3r4t5y6u7i8o9p0",
  "!@#$%^&*()",
].flatMap((sequence) => [sequence, reversed(sequence)]);

/** The letters that people replace with these characters in a password. */
const lookalikes: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
  "!": "i",
};

/** The maximum number of digits and signs around a word that count as decoration. */
const maxDecoration = 8;

/**
 * Reports whether a password is easy to guess: a common word, also with digits and signs around it or in place of
 * letters. Neighbors on the keyboard, a short text that repeats, and the account's own email count too.
 */
export async function isCommonPassword(password: string, email: string): Promise<boolean> {
  const plain = password.toLowerCase();
  if (/^(.{1,4})\1+$/s.test(plain) || sequences.some((sequence) => sequence.includes(plain))) return true;
  const [mailbox = "", domain = ""] = email.toLowerCase().split("@");
  const own = new Set([email.toLowerCase(), mailbox, undecorated(mailbox), domain, domain.split(".")[0]]);
  commonPasswords ??= unpackCommonPasswords();
  const known = await commonPasswords;
  const forms = [plain, undecorated(plain)];
  return [...forms, ...forms.map(spelledOut)].some(
    (form) => known.has(form) || ownWords.has(form) || own.has(form),
  );
}

/**
 * Rejects a new password that is easy to guess, where the stage requires that.
 * @param field the field of the request that has the password
 * @throws ApiError VALIDATION_ERROR
 */
export async function requireUncommonPassword(
  password: string,
  email: string,
  field = "password",
): Promise<void> {
  if (config.uncommonPasswordsOnly() && (await isCommonPassword(password, email))) {
    throw invalidField(field, "is too easy to guess: it is a common one, or follows from the email");
  }
}

/** Returns a word without the digits and signs around it, or the whole text when more than decoration would go. */
function undecorated(text: string): string {
  const word = text.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
  return text.length - word.length > maxDecoration ? text : word;
}

function spelledOut(text: string): string {
  return text.replaceAll(/[013457@$!]/g, (character) => lookalikes[character] ?? character);
}

function reversed(text: string): string {
  return text.split("").toReversed().join("");
}
