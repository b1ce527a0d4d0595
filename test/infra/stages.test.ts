import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { publishedBrand, withBrandImages } from "../../infra/stack/stages/brand.ts";
import { StageSettings } from "../../infra/stack/stages/settings.ts";
import { stageNamed, type Stage } from "../../infra/stack/stages/stage.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-stages-"));
  vi.stubEnv("STAGES_FOLDER", folder);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

async function stage(settings: unknown, name = "blue"): Promise<() => unknown> {
  const content = typeof settings === "string" ? settings : JSON.stringify(settings);
  await writeFile(path.join(folder, `${name}.json`), content);
  return () => stageNamed(name);
}

const policies = { senderIds: "any", kyc: "none", verifiedEmail: "none", countries: "any" };
const least = { carrier: "sandbox", keepData: false, policies };
const domain = {
  name: "sms.example.com",
  certificateArn: "arn:aws:acm:eu-west-1:123456789012:certificate/1",
};
const firewall = { requestsPerAddressPer5Minutes: 1_000 };
const throttle = { rateLimit: 1_000, burstLimit: 1_000 };
const slow = { rateLimit: 1, burstLimit: 1 };

it("accepts a file of any name, and has strict defaults", async () => {
  expect((await stage(least, "blue-2"))()).toMatchObject({
    name: "blue-2",
    currency: "USD",
    topUpEnabled: false,
    webhookTargets: "public",
    corsOrigins: [],
    logRetentionDays: 90,
    throttle: { rateLimit: 1_000, burstLimit: 1_000, operations: {} },
    limits: {
      oneTimeCodeValiditySeconds: 600,
      requestsPerSecond: 100,
      unknownCredentialsPerAddressPer5Minutes: 100,
    },
  });
});

it("lists the stages when none has the name", async () => {
  await stage(least);
  expect(() => stageNamed("production")).toThrow(/^there is no stage production, only blue/);
});

it.each([
  [{ keepData: false }, "carrier: "],
  [{ ...least, policies: undefined }, "policies: "],
  [{ ...least, policies: { ...policies, kyc: undefined } }, "policies.kyc: "],
  [{ ...least, policies: { ...policies, senderIds: "some" } }, "policies.senderIds: "],
  [{ ...least, policies: { ...policies, countries: [] } }, "policies.countries: "],
  [{ ...least, policies: { ...policies, countries: ["UK"] } }, 'policies.countries: must be "any" or a list'],
  [
    { ...least, policies: { ...policies, numberTypes: ["landline"] } },
    'policies.numberTypes: must be "any" or a list of some of fixed, mobile,',
  ],
  [{ ...least, webhookTarget: "any" }, "webhookTarget: unknown setting; did you mean `webhookTargets`?"],
  [{ ...least, account: "12345" }, "account: must be the twelve digits of an AWS account"],
  [{ ...least, region: "Ireland" }, "region: must be a region such as eu-west-1"],
  [{ ...least, replicaRegion: "eu-west-1" }, "replicaRegion: needs region, and must be another one"],
  [{ ...least, region: "eu-west-1", replicaRegion: "eu-west-1" }, "replicaRegion: needs region"],
  [
    { ...least, region: "eu-west-1", replicaRegion: "eu-west-2", adoptTableName: "t" },
    "replicaRegion: must be set on the adopted table",
  ],
  [{ ...least, runbookUrl: "http://example.com" }, "runbookUrl: must be the https address"],
  [{ ...least, sessionKeys: [] }, "sessionKeys: "],
  [{ ...least, sessionKeys: ["next", "next"] }, "sessionKeys: must differ"],
  [{ ...least, sessionKeys: ["a b"] }, "sessionKeys.0: must be letters and digits"],
  [{ ...least, alarmEmails: ["a@example.com", "somebody"] }, "alarmEmails.1: must be an email address"],
  [{ ...least, email: { from: "somebody" } }, "email.from: must be an email address"],
  [{ ...least, email: { from: "a@example.com", name: 'A "B"' } }, "email.name: must be up to 60 letters"],
  [{ ...least, email: { from: "a@example.com", identity: "*" } }, "email.identity: must be a domain"],
  [
    { ...least, policies: { ...policies, verifiedEmail: "before-sending" } },
    "policies.verifiedEmail: needs email",
  ],
  [
    { ...least, payments: { seller: { name: "株式会社", address: ["ok", "\u202E"], country: "US" } } },
    "payments.seller.address.1: has a character that invoices cannot show: U+202E",
  ],
  [
    { ...least, payments: { seller: { name: "A", address: ["B"], country: "US" } }, brand: { name: "ᏣᎳᎩ" } },
    "brand.name: has a character that invoices cannot show: Ꮳ (U+13E3)",
  ],
  [{ ...least, monthlyBudgetUsd: 50 }, "monthlyBudgetUsd: needs alarmEmails"],
  [{ ...least, corsOrigins: ["*", "https://example.com/"] }, "corsOrigins.1: must be https://example.com"],
  [{ ...least, brand: { name: "<b>" } }, "brand.name: must be up to 40 letters"],
  [{ ...least, brand: { name: "A".repeat(41) } }, "brand.name: must be up to 40 letters"],
  [
    { ...least, brand: { colors: { light: "blue", dark: "#8ab4ff" } } },
    "brand.colors.light: must be a color",
  ],
  [
    { ...least, brand: { colors: { light: "#2f80ed", dark: "#8ab4ff" } } },
    "brand.colors.light: has a contrast of 3.4 on light pages, below 4.5: choose a darker color",
  ],
  [
    { ...least, brand: { colors: { light: "#0b4fb3", dark: "#0b4fb3" } } },
    "brand.colors.dark: has a contrast of 2.0 on dark pages, below 4.5: choose a lighter color",
  ],
  [{ ...least, brand: { logo: "../logo.svg" } }, "brand.logo: must be the name of a file beside this one"],
  [{ ...least, brand: { termsUrl: "http://example.com" } }, "brand.termsUrl: must be an https address"],
  // Stripe pays out whole forints only.
  [{ ...least, currency: "HUF" }, "currency: must be one of AED, AUD,"],
  [{ ...least, currency: "eur" }, "currency: must be one of AED, AUD,"],
  [{ ...least, priceNoticeDays: 0 }, "priceNoticeDays: "],
  [{ ...least, minimumMargin: 20 }, "minimumMargin: must be a share of the price"],
  [{ ...least, logRetentionDays: 8 }, "logRetentionDays: "],
  [{ ...least, messageRetentionDays: 7 }, "messageRetentionDays: "],
  [{ ...least, limits: { dailySpendCap: 50 } }, "limits.dailySpendCap: "],
  [{ ...least, limits: { dailySpendCap: "0.00" } }, "limits.dailySpendCap: must be an amount such as"],
  [{ ...least, limits: { sendsPerSecond: 0 } }, "limits.sendsPerSecond: "],
  [{ ...least, limits: { codes: 5 } }, "limits.codes: unknown setting"],
  [{ ...least, limits: { requestsPerSecond: "any" } }, "limits.requestsPerSecond: "],
  [{ ...least, limits: { oneTimeCodeValiditySeconds: 30 } }, "limits.oneTimeCodeValiditySeconds: must be"],
  [{ ...least, limits: { webhooksBeforePayment: -1 } }, "limits.webhooksBeforePayment: "],
  [
    { ...least, policies: { ...policies, redactOneTimeCode: true } },
    "policies.redactOneTimeCode: unknown setting; did you mean `redactOneTimeCodes`?",
  ],
  [
    { ...least, adoptWebhookKeyArn: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:key" },
    "adoptWebhookKeyArn: must be a whole ARN",
  ],
  [
    { ...least, adoptSecondFactorKeyArn: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:key" },
    "adoptSecondFactorKeyArn: must be a whole ARN",
  ],
  [{ ...least, workerConcurrency: { refunds: 1 } }, "workerConcurrency.refunds: "],
  [{ ...least, workerConcurrency: { sends: 10 } }, "workerConcurrency"],
  [{ ...least, reservedConcurrency: { sendSmss: 10 } }, "reservedConcurrency"],
  [{ ...least, throttle: { rateLimit: 0, burstLimit: 1 } }, "throttle.rateLimit: "],
  [{ ...least, domain: { name: "sms.example.com" } }, "domain.certificateArn: "],
  [{ ...least, region: "eu-north-1", domain }, "domain.certificateArn: must be a certificate in eu-north-1"],
  [
    { ...least, region: "eu-west-1", domain, firewall },
    "domain.certificateArn: must be a certificate in us-east-1",
  ],
  [
    { ...least, firewall: { ...firewall, anonymousRequestsPerAddressPer5Minutes: 15_000 } },
    "firewall.anonymousRequestsPerAddressPer5Minutes: must be below 15000",
  ],
  [
    { ...least, firewall: { ...firewall, authRequestsPerAddressPer5Minutes: 15_000 } },
    "firewall.authRequestsPerAddressPer5Minutes: must be below 15000",
  ],
  [
    { ...least, firewall: { requestsPerAddressPer5Minutes: 150_000 } },
    "firewall.requestsPerAddressPer5Minutes: must be below 150000",
  ],
  [
    { ...least, firewall, throttle: { rateLimit: 3, burstLimit: 9 } },
    "firewall.requestsPerAddressPer5Minutes: must be below 900",
  ],
  [
    { ...least, firewall, throttle: { ...throttle, carriers: slow } },
    "firewall.carrierRequestsPerAddressPer5Minutes: must be below 300",
  ],
  [
    { ...least, firewall, throttle: { ...throttle, unknownPaths: { rateLimit: 200, burstLimit: 9 } } },
    "firewall.carrierRequestsPerAddressPer5Minutes: must be below 60000",
  ],
  [
    { ...least, firewall, throttle: { ...throttle, paymentEvents: slow } },
    "firewall.anonymousRequestsPerAddressPer5Minutes: must be below 300",
  ],
  [
    { ...least, firewall, throttle: { ...throttle, operations: { getConsole: slow } } },
    "firewall.anonymousRequestsPerAddressPer5Minutes: must be below 300",
  ],
  [
    { ...least, firewall, throttle: { ...throttle, operations: { login: slow } } },
    "firewall.authRequestsPerAddressPer5Minutes: must be below 300",
  ],
])("names what is wrong in %j", async (settings, problem) => {
  const read = await stage(settings);
  expect(read).toThrow("blue.json is not valid:");
  expect(read).toThrow(problem);
});

it("rejects a file that is not JSON, and a name that AWS would reject", async () => {
  expect(await stage("{", "broken")).toThrow(/broken\.json is not valid:\n {2}.*JSON/);
  expect(await stage(least, "Blue_Stage")).toThrow("its name must be");
});

describe("the images of a brand", () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>';
  const png = Buffer.from("iVBORw0KGgo=", "base64");
  let bundle: string;
  beforeEach(async () => {
    bundle = await mkdtemp(path.join(folder, "bundle-"));
    await writeFile(path.join(bundle, "index.mjs"), "the function");
  });

  async function branded(brand: unknown): Promise<Stage> {
    await stage({ ...least, brand });
    return stageNamed("blue");
  }

  it("are next to the bundle of the function that serves them, under their public names", async () => {
    await writeFile(path.join(folder, "ada.svg"), svg);
    await writeFile(path.join(folder, "ada.png"), png);
    const made = await branded({ name: "Ada", logo: "ada.svg", socialCard: "ada.png" });
    expect(publishedBrand(made)).toMatchObject({ name: "Ada", images: ["card.png", "logo.svg"] });
    const withImages = withBrandImages(bundle, made);
    expect(await readFile(path.join(withImages, "logo.svg"), "utf8")).toBe(svg);
    expect(await readFile(path.join(withImages, "card.png"))).toEqual(png);
    expect(await readFile(path.join(withImages, "index.mjs"), "utf8")).toBe("the function");
    // Another image is another bundle, so that a deployment notices it.
    await writeFile(path.join(folder, "ada.svg"), `${svg} `);
    expect(withBrandImages(bundle, made)).not.toBe(withImages);
    expect(withBrandImages(bundle, await branded({ name: "Ada" }))).toBe(bundle);
  });

  it.each([
    ["none.svg", undefined, "is missing"],
    ["page.svg", "<html><svg></svg></html>", "is not an SVG file"],
    ["large.svg", `${svg}${" ".repeat(300 * 1024)}`, "has more than 300 KB"],
  ])("%s is rejected", async (logo, content, problem) => {
    if (content !== undefined) await writeFile(path.join(folder, logo), content);
    const made = await branded({ logo });
    expect(() => withBrandImages(bundle, made)).toThrow(problem);
  });
});

it("describes every setting in the README", async () => {
  const readme = await readFile("infra/stack/stages/README.md", "utf8");
  const described = [...readme.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) =>
    cell.split(",").map((name) => name.replaceAll("`", "").trim()),
  );
  expect(described.toSorted()).toEqual(Object.keys(StageSettings.shape).toSorted());
});
