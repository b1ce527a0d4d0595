import { createHmac, randomBytes } from "node:crypto";

import { secondMs } from "../clock.ts";

/*
 * The codes of authenticator apps: RFC 6238 with SHA-1, six digits and thirty seconds, which all apps support.
 */

const stepMs = 30 * secondMs;
const codeDigits = 6;
/** The length of a SHA-1 hash (RFC 4226, section 4). */
const secretBytes = 20;
/** A code is valid one step before and after its own, because clocks differ and typing takes time (RFC 6238, section 5.2). */
const driftSteps = 1;

const base32Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const bitsOfCharacter = 5;

/** Returns a new secret in base32, as apps require. */
export function newTotpSecret(): string {
  return base32Of(randomBytes(secretBytes));
}

/** Returns the address in the QR code for an app (Key URI Format of Google Authenticator). */
export function totpUri(secret: string, { issuer, account }: { issuer: string; account: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  const parameters = `secret=${secret}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=6&period=30`;
  return `otpauth://totp/${label}?${parameters}`;
}

/** Returns the step that a moment is in. */
export function totpStepAt(moment: Date): number {
  return Math.floor(moment.getTime() / stepMs);
}

/** Returns the code of a step (RFC 4226, section 5.3). */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hash = createHmac("sha1", bytesOf(secret)).update(counter).digest();
  const offset = hash.readUInt8(hash.length - 1) % 16;
  const number = (hash.readUInt32BE(offset) % 2 ** 31) % 10 ** codeDigits;
  return String(number).padStart(codeDigits, "0");
}

/** Returns the newest step that has this code, among those that are valid at a moment; undefined if none has. */
export function stepOfTotpCode(secret: string, code: string, moment: Date): number | undefined {
  const newest = totpStepAt(moment) + driftSteps;
  const steps = Array.from({ length: 2 * driftSteps + 1 }, (_, index) => newest - index);
  return steps.find((step) => totpCode(secret, step) === code);
}

/** Returns bytes in base32 (RFC 4648, section 6). Their number must be a multiple of five. */
export function base32Of(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const characters = bits.match(new RegExp(`.{${bitsOfCharacter}}`, "g")) ?? [];
  return characters.map((each) => base32Alphabet.charAt(Number.parseInt(each, 2))).join("");
}

function bytesOf(base32: string): Uint8Array {
  const bits = Array.from(base32, (each) =>
    base32Alphabet.indexOf(each).toString(2).padStart(bitsOfCharacter, "0"),
  );
  return Uint8Array.from(bits.join("").match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}
