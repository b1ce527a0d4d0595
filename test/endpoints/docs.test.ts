import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";

import { describe, expect, inject, it } from "vitest";
import { parse } from "yaml";
import * as z from "zod/mini";

import { openApiDocument } from "../../shared/api/openapi/openapi.ts";
import { call } from "../support/api.ts";

const document = openApiDocument();

describe("the OpenAPI document", () => {
  it("is served as it is generated", async () => {
    const response = await call("/openapi.json");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(response.body).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it("is served as YAML, too", async () => {
    const response = await call("/openapi.yaml");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/yaml; charset=utf-8");
    expect(parse(response.text)).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it("is compressed where the caller accepts that", async () => {
    const compressed = await get("/openapi.json", { "accept-encoding": "gzip" });
    expect(compressed.headers).toMatchObject({ "content-encoding": "gzip", vary: "Accept-Encoding" });
    const plain = await get("/openapi.json", {});
    expect(plain.headers).not.toHaveProperty("content-encoding");
    expect(plain.body.equals(gunzipSync(compressed.body))).toBe(true);
    expect(compressed.body.byteLength).toBeLessThan(plain.body.byteLength / 5);
  });

  it("has the version that the package and the health check have", async () => {
    const { version } = z
      .object({ version: z.string() })
      .parse(JSON.parse(await readFile("package.json", "utf8")));
    expect(document.info.version).toBe(version);
    const commit: unknown = expect.stringMatching(/^[0-9a-f]{12}(-dirty)?$/);
    expect((await call("/health")).body).toMatchObject({ data: { version, commit } });
  });
});

describe("the documentation", () => {
  const pages = [
    "/docs",
    "/docs/guides/quickstart",
    "/docs/operations/sendSms",
    "/docs/errors",
    "/docs/errors/INSUFFICIENT_BALANCE",
    "/docs/events/message.sent",
    "/docs/changelog",
  ];

  it.each(pages)("serves %s under a policy that allows only the gateway's own files", async (path) => {
    const response = await call(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("public, max-age=300");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(response.text).not.toMatch(/<(script|img|iframe)[^>]*src="(https?:)?\/\//);
    expect(response.text).not.toMatch(/<script>|<style|style="| on\w+="|\{\{brand/);
  });

  it.each(pages)("has the Markdown of %s", async (path) => {
    const response = await call(path === "/docs" ? "/docs/index.md" : `${path}.md`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(response.text).toMatch(/^# \S/);
    expect(response.text).not.toContain("{{brand");
  });

  it.each(["/v1/wallet", "/v1/nothing"])(
    "has a page about the error of %s, which the error links to",
    async (path) => {
      const Linked = z.object({ error: z.object({ code: z.string(), docUrl: z.url() }) });
      const { error } = Linked.parse((await call(path)).body);
      const page = await call(new URL(error.docUrl).pathname);
      expect(page.status).toBe(200);
      expect(page.text).toContain(error.code);
    },
  );

  it("offers the packages that its guide names", async () => {
    const guide = (await call("/docs/guides/sdks.md")).text;
    const names = new Set([...guide.matchAll(/\/docs\/packages\/([\w.-]+)/g)].map(([, name]) => name));
    expect(names.size).toBe(3);
    const [npmPackage = "", wheel = "", collection = ""] = [...names].toSorted((one, other) =>
      (other ?? "").localeCompare(one ?? ""),
    );
    const archives: [string, string, (body: Buffer) => Buffer, string][] = [
      [npmPackage, "application/gzip", gunzipSync, "/v1/sms/send"],
      [wheel, "application/zip", (body) => body, "sms_gateway/_client.py"],
    ];
    for (const [archive, type, unpacked, expected] of archives) {
      const { status, headers, body } = await get(`/docs/packages/${archive}`, { "accept-encoding": "gzip" });
      expect(status).toBe(200);
      expect(headers).toMatchObject({ "content-type": type });
      expect(headers).not.toHaveProperty("content-encoding");
      expect(unpacked(body).toString("latin1")).toContain(expected);
    }
    expect(JSON.parse(String((await get(`/docs/packages/${collection}`, {})).body))).toMatchObject({
      info: { name: "SMS gateway" },
      variable: [{ key: "baseUrl", value: inject("baseUrl") }, { key: "apiKey" }],
    });
    expect((await get("/docs/packages/sms-gateway-0.0.1.tgz", {})).status).toBe(404);
  });

  it("lists its pages for language models", async () => {
    const { headers, text } = await call("/llms.txt");
    expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(text).toContain("/docs/operations/sendSms.md): POST /v1/sms/send: Send a message");
    expect(text).not.toContain("{{brand");
  });

  it("compresses pages and files where the browser accepts that, and keeps files with a hash in their names", async () => {
    const page = await get("/docs/operations/sendSms", { "accept-encoding": "br;q=1, gzip;q=0.8" });
    const text = gunzipSync(page.body).toString("utf8");
    const files = [...text.matchAll(/"(?:\.\.\/)+(docs\/main-[^"]+)"/g)].map(([, file]) => `/${file}`);
    expect(files).toHaveLength(2);
    let transferred = page.body.byteLength;
    for (const file of files) {
      const compressed = await get(file, { "accept-encoding": "gzip" });
      expect(compressed.headers).toMatchObject({
        "content-encoding": "gzip",
        "cache-control": "public, max-age=31536000, immutable",
        vary: "Accept-Encoding",
      });
      transferred += compressed.body.byteLength;
      for (const headers of [{}, { "accept-encoding": "gzip;q=0, identity" }]) {
        const plain = await get(file, headers);
        expect(plain.headers).not.toHaveProperty("content-encoding");
        expect(plain.body.equals(gunzipSync(compressed.body))).toBe(true);
      }
    }
    expect(transferred).toBeLessThan(60_000);
  });

  it.each(["/docs/nothing", "/docs/guides/nothing", "/docs/a/b/c", "/docs/index.html.gz"])(
    "shows a page with working links at the unknown address %s",
    async (path) => {
      const { status, body } = await get(path, {});
      expect(status).toBe(404);
      const text = body.toString("utf8");
      expect(text).toContain("Page not found");
      const [, href = ""] = /href="([^"]+)">Quickstart/.exec(text) ?? [];
      // Under a longer address, because a browser ignores what leads above the first folder.
      const { pathname } = new URL(href, `https://example.com/1/2/3${path}`);
      expect(pathname).toBe("/1/2/3/docs/guides/quickstart");
    },
  );
});

/** Sends a GET without an Accept-Encoding, unlike `fetch`, and does not decompress the response. */
async function get(path: string, headers: Record<string, string>) {
  return new Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; body: Buffer }>(
    (resolve, reject) => {
      request(inject("baseUrl") + path, { headers }, (response) => {
        buffer(response).then(
          (body) => resolve({ status: response.statusCode, headers: response.headers, body }),
          reject,
        );
      })
        .on("error", reject)
        .end();
    },
  );
}
