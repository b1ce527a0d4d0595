import type dns from "node:dns";
import { isIP } from "node:net";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ApiError } from "../../shared/api/contract/errors.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { checkWebhookUrl, guardedLookup } from "../../shared/platform/http/webhook-target.ts";

function problemOf(url: string): string | undefined {
  try {
    checkWebhookUrl(url);
    return undefined;
  } catch (error) {
    return error instanceof ApiError ? error.details?.[0]?.message : String(error);
  }
}

/** The results of the next lookups; without them, lookups are real. */
const lookups = vi.hoisted<string[][]>(() => []);

vi.mock("node:dns", async (importActual) => {
  const actual = await importActual<typeof dns>();
  return {
    ...actual,
    lookup: (host: string, options: dns.LookupAllOptions, callback: LookupCallback) => {
      const found = lookups.shift();
      if (found === undefined) actual.lookup(host, options, callback);
      else
        callback(
          null,
          found.map((address) => ({ address, family: isIP(address) })),
        );
    },
  };
});

type LookupCallback = (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void;

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
    ["https://example.com:80/", "must use port 443"],
    ["https://user:word@example.com/", "must not carry a user name or a password"],
    ["https://user@example.com/", "must not carry a user name or a password"],
    ["https://example.com@127.0.0.1/", "must not carry a user name or a password"],
  ])("%s is rejected: %s", (url, problem) => {
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
    "https://[64:ff9b:1::7f00:1]/",
    "https://[2002:7f00:1::]/",
    "https://[2001:0:7f00:1::]/",
    "https://[::7f00:1]/",
    "https://[::127.0.0.1]/",
    "https://[fec0::1]/",
    "https://192.88.99.1/",
    "https://198.18.0.1/",
    "https://localhost/",
    "https://localhost./",
    "https://LOCALHOST/",
    "https://printer.localhost/",
  ])("%s is rejected, because its address is not public", (url) => {
    expect(problemOf(url)).toBe("must be a public address");
  });

  it("a connection to a name is rejected if any of its addresses is not public", async () => {
    for (const addresses of [["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["::ffff:169.254.169.254"]]) {
      lookups.push(addresses);
      expect(await resolve("rebinding.example.com")).toBe("the webhook's host is not a public address");
    }
  });

  it("the connection goes to the checked address, even if the name changes with each lookup", async () => {
    lookups.push(["93.184.216.34"], ["127.0.0.1"]);
    expect(await resolve("rebinding.example.com")).toContain("93.184.216.34");
    expect(await resolve("rebinding.example.com")).toBe("the webhook's host is not a public address");
  });

  it("a connection to a name that resolves to this machine is rejected", async () => {
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

  it("a connection to a name that resolves to this machine is opened", async () => {
    expect(await resolve("localhost")).toContain("127.0.0.1");
  });
});
