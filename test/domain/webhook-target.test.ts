import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { ApiError } from "../../shared/contract/errors.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { checkWebhookUrl, guardedLookup } from "../../shared/webhooks/target.ts";

function problemOf(url: string): string | undefined {
  try {
    checkWebhookUrl(url);
    return undefined;
  } catch (error) {
    return error instanceof ApiError ? error.details?.[0]?.message : String(error);
  }
}

async function resolve(hostname: string): Promise<string> {
  return new Promise((done) => {
    guardedLookup(hostname, {}, (error, addresses) => done(error?.message ?? JSON.stringify(addresses)));
  });
}

describe("outside the local stage", () => {
  beforeEach(() => {
    process.env[environmentNames.webhookTargets] = "public";
  });
  afterEach(() => {
    process.env[environmentNames.webhookTargets] = "any";
  });

  it.each([
    "https://example.com/hook",
    "https://example.com:443/",
    "https://93.184.216.34/",
    "https://[2606:2800::1]/",
  ])("%s is taken", (url) => {
    expect(problemOf(url)).toBeUndefined();
  });

  it.each([
    ["http://example.com/", "must be https"],
    ["https://example.com:8443/", "must use port 443"],
    ["https://user:word@example.com/", "must not carry a user name or a password"],
    ["nonsense", "must be a URL"],
  ])("%s is refused: %s", (url, problem) => {
    expect(problemOf(url)).toBe(problem);
  });

  it.each([
    "https://127.0.0.1/",
    "https://127.1/",
    "https://0x7f.1/",
    "https://2130706433/",
    "https://0177.0.0.1/",
    "https://10.0.0.1/",
    "https://192.168.1.1/",
    "https://172.16.0.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://100.64.0.1/",
    "https://0.0.0.0/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:169.254.169.254]/",
    "https://[::ffff:7f00:1]/",
    "https://[fd00:ec2::254]/",
    "https://[fe80::1]/",
    "https://[64:ff9b::7f00:1]/",
  ])("%s is refused as no public address", (url) => {
    expect(problemOf(url)).toBe("must be a public address");
  });

  it("a name that resolves to this machine is refused when it is dialled", async () => {
    expect(await resolve("localhost")).toBe("the webhook's host is not a public address");
  });
});

describe("in the local stage", () => {
  it.each(["http://127.0.0.1:4000/hook", "https://localhost/hook", "http://example.com/"])(
    "%s is taken",
    (url) => {
      expect(problemOf(url)).toBeUndefined();
    },
  );

  it("a name that resolves to this machine is dialled", async () => {
    expect(await resolve("localhost")).toContain("127.0.0.1");
  });
});
