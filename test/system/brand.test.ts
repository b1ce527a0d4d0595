import { rm } from "node:fs/promises";

import { afterAll, beforeAll, expect, inject, it } from "vitest";

import { startLocalGateway, type LocalGateway } from "../../infra/local/gateway.ts";
import type { PublishedBrand } from "../../shared/api/contract/brand.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { call, Customer } from "../support/api.ts";
import { assemblyWithVariables } from "../support/changed-assembly.ts";
import { waitForEmail } from "../support/emails.ts";

/*
 * A gateway whose operator has a name, colors, and pages of their own.
 */

const brand: PublishedBrand = {
  name: "Ada & Söhne",
  colors: { light: "#0b4fb3", dark: "#8ab4ff" },
  supportEmail: "help@example.com",
  termsUrl: "https://example.com/terms?of=ada&more",
  images: [],
};

let assemblyFolder: string;
let gateway: LocalGateway;

beforeAll(async () => {
  const assembly = await assemblyWithVariables(inject("assembly"), {
    [environmentNames.brand]: JSON.stringify(brand),
    [environmentNames.emailName]: brand.name,
    [environmentNames.policies.countries]: "FR DE",
  });
  ({ assemblyFolder } = assembly);
  gateway = await startLocalGateway({ ...assembly, port: 0, log: () => undefined, runsSchedules: false });
});
afterAll(async () => {
  await gateway.stop();
  await rm(assemblyFolder, { recursive: true });
});

it.each(["/", "/console", "/account"])("the page %s has the operator's name, and no other", async (page) => {
  const { status, text } = await call(page, { baseUrl: gateway.url });
  expect(status).toBe(200);
  expect(text).toMatch(/<title>.*Ada &amp; Söhne.*<\/title>/);
  expect(text).toContain('href="brand/icon.svg"');
  expect(text).toContain('href="brand/theme.css"');
  expect(text).not.toContain("{{");
  expect(text).not.toContain("SMS gateway");
});

it.each(["/docs", "/docs/guides/sdks", "/docs/errors/NOT_FOUND", "/docs/nothing"])(
  "the page %s of the documentation has the operator's name, and no other",
  async (page) => {
    const { text } = await call(page, { baseUrl: gateway.url });
    expect(text).toMatch(/<title>.*Ada &amp; Söhne documentation<\/title>/);
    expect(text).toContain('brand/theme.css"');
    expect(text).not.toMatch(/\{\{brand|SMS gateway/);
  },
);

it.each(["/openapi.json", "/openapi.yaml", "/llms.txt"])(
  "%s has the operator's name, and no other",
  async (file) => {
    const { text } = await call(file, { baseUrl: gateway.url });
    expect(text).toContain("Ada & Söhne");
    expect(text).not.toMatch(/\{\{brand|SMS gateway/);
  },
);

it("the start page has the prices of the allowed countries and the operator's links, and leads to the console", async () => {
  const { text, headers } = await call("/", { baseUrl: gateway.url });
  expect(text.match(/<li><span>[^<]*<\/span><span>[^<]*<\/span><\/li>/g)).toEqual([
    "<li><span>France</span><span>$0.076</span></li>",
    "<li><span>Germany</span><span>$0.089</span></li>",
  ]);
  expect(text).toContain('<a href="console#/sign-up">Create an account</a>');
  expect(text).toContain('<a href="https://example.com/terms?of=ada&amp;more">Terms</a>');
  expect(text).toContain(`<meta property="og:url" content="${gateway.url}/">`);
  // This stage serves no documentation, and has no social card.
  expect(text).toContain('href="docs"');
  expect(text).not.toContain("og:image");
  expect(headers.get("cache-control")).toBe("public, max-age=300");
});

it("the style sheet has the colors, and the icon the first letter of the name", async () => {
  const theme = await call("/brand/theme.css", { baseUrl: gateway.url });
  expect(theme.headers.get("content-type")).toBe("text/css; charset=utf-8");
  expect(theme.text).toBe(`:root {
  --accent: light-dark(#0b4fb3, #8ab4ff);
  --accent-soft: light-dark(color-mix(in srgb, #0b4fb3 12%, #ffffff), color-mix(in srgb, #8ab4ff 18%, #0e1412));
}
`);
  const icon = await call("/brand/icon.svg", { baseUrl: gateway.url });
  expect(icon.headers.get("content-type")).toBe("image/svg+xml");
  expect(icon.headers.get("content-security-policy")).toContain("sandbox");
  expect(icon.text).toMatch(/fill="#0b4fb3".*>A<\/text>/);
});

it.each(["logo.svg", "card.png", "index.mjs", "..%2Findex.mjs"])("there is no file %s", async (file) => {
  expect((await call(`/brand/${file}`, { baseUrl: gateway.url })).status).toBe(404);
});

it("emails come from the operator's name, and name nothing else", async () => {
  const customer = await Customer.register({ baseUrl: gateway.url });
  const { from, text, html } = await waitForEmail(gateway, customer.email);
  // A name with characters beyond ASCII is encoded, as RFC 2047 requires.
  expect(from).toBe("=?utf-8?B?QWRhICYgU8O2aG5l?= <sms@example.com>");
  expect(text).toContain("An account at Ada & Söhne was registered");
  expect(html).toContain('color: #0b4fb3">Ada &amp; Söhne</p>');
  expect(html).toContain('<a href="mailto:help@example.com">Support</a>');
  expect(text + html).not.toContain("SMS gateway");
});
