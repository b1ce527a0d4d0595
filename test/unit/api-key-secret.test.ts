import { expect, it } from "vitest";

import {
  apiKeyHint,
  hashApiKeySecret,
  isApiKeySecret,
  newApiKeySecret,
} from "../../shared/platform/auth/api-key-secret.ts";

it("every new key is different, well-formed and recognized", () => {
  const secrets = Array.from({ length: 500 }, newApiKeySecret);
  expect(new Set(secrets).size).toBe(500);
  for (const secret of secrets) {
    expect(secret).toMatch(/^nn_[0-9A-Za-z]{38}$/);
    expect(isApiKeySecret(secret)).toBe(true);
  }
});

it("a test key is recognized, and shows that it is one", () => {
  const secret = newApiKeySecret({ isTest: true });
  expect(secret).toMatch(/^nn_test_[0-9A-Za-z]{38}$/);
  expect(isApiKeySecret(secret)).toBe(true);
  expect(isApiKeySecret(secret.replace("nn_test_", "nn_text_"))).toBe(false);
  expect(apiKeyHint(secret)).toBe(`${secret.slice(0, "nn_test_".length + 4)}…`);
});

it("a key with any one character changed is not recognized", () => {
  const secret = newApiKeySecret();
  for (let position = 3; position < secret.length; position += 1) {
    const other = secret.charAt(position) === "a" ? "b" : "a";
    expect(isApiKeySecret(secret.slice(0, position) + other + secret.slice(position + 1))).toBe(false);
  }
});

it("the stored and shown parts of a key do not reveal it", () => {
  const secret = newApiKeySecret();
  expect(hashApiKeySecret(secret)).toMatch(/^[0-9a-f]{64}$/);
  expect(apiKeyHint(secret)).toBe(`${secret.slice(0, 7)}…`);
});
