import { vi } from "vitest";

/* Stands in for the hashes of passwords, which take a tenth of a second each: a password is its own hash. */

export const hashPassword = vi.fn<(password: string) => Promise<string>>(async (password) => password);

export const passwordMatches = vi.fn<(password: string, hash?: string) => Promise<boolean>>(
  async (password, hash) => password === hash,
);
