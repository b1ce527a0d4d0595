import { describe, expect, inject, it } from "vitest";

import { call, errorOf } from "../support/api.ts";

/** The paths of the files that the page names. */
async function filesOfPage(): Promise<string[]> {
  const { text } = await call("/console");
  return [...text.matchAll(/(?:href|src)="(console\/[^"]+)"/g)].map(([, file = ""]) => `/${file}`);
}

describe("the console", () => {
  it("is a page that allows only the gateway's own files, and that browsers always revalidate", async () => {
    const response = await call("/console");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    // A deployed stage may have no payments.
    expect(response.text).toMatch(/<meta name="features" content="docs( payments)? sandbox top-up" \/>/);
    expect(response.text).not.toMatch(/<script[^>]*>[^<]|<style|\son\w+=/);
  });

  it("names files that browsers cache forever, compressed for clients that accept it", async () => {
    const files = await filesOfPage();
    expect(files.map((file) => file.replace(/-[0-9a-f]+/, ""))).toEqual([
      "/console/main.css",
      "/console/main.js",
    ]);
    for (const file of files) {
      const response = await fetch(inject("baseUrl") + file);
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "cache-control": "public, max-age=31536000, immutable",
        "content-encoding": "gzip",
        "x-content-type-options": "nosniff",
        vary: "Accept-Encoding",
      });
      const plain = await fetch(inject("baseUrl") + file, { headers: { "Accept-Encoding": "identity" } });
      expect(plain.headers.get("content-encoding")).toBe(null);
      expect(await plain.text()).toBe(await response.text());
    }
  });

  it.each(["main.js", "index.html", "index.mjs", "..%2Findex.mjs", "main-0000.js", "package.json"])(
    "has no file %s",
    async (file) => {
      expect(errorOf(await call(`/console/${file}`))).toEqual({ status: 404, code: "NOT_FOUND" });
    },
  );
});
