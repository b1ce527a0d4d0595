import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { expect, it, onTestFinished, vi } from "vitest";

import { variantOf } from "../../infra/local/synthesize.ts";

it("a change in another folder of stages synthesizes the stack again", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-stages-"));
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });
  vi.stubEnv("STAGES_FOLDER", undefined);
  expect(await variantOf("local")).toBe("local");
  vi.stubEnv("STAGES_FOLDER", folder);
  const variants = new Set<string>();
  for (const [file, content] of [
    ["local.json", "{}"],
    ["local.json", '{"brand":{}}'],
    ["logo.svg", "<svg/>"],
  ] as const) {
    await writeFile(path.join(folder, file), content);
    variants.add(await variantOf("local"));
    expect(await variantOf("local")).toBe([...variants].at(-1));
  }
  expect(variants.size).toBe(3);
});
