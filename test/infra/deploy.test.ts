import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { expect, it } from "vitest";

import { deployArguments } from "../../infra/deploy-arguments.ts";
import { releaseText } from "../../infra/release.ts";

it.each([
  [["-c", "stage=dev"], true, ["deploy", "--all", "-c", "stage=dev"]],
  [["-c", "stage=dev"], false, ["deploy", "--all", "--require-approval", "never", "-c", "stage=dev"]],
  [["--require-approval", "broadening"], false, ["deploy", "--all", "--require-approval", "broadening"]],
  [["--require-approval=any-change"], false, ["deploy", "--all", "--require-approval=any-change"]],
])("npm run deploy -- %j, with a person to ask: %s", (typed, canAsk, expected) => {
  expect(deployArguments(typed, canAsk)).toEqual(expected);
});

it("a release is named by its version and its commit", () => {
  expect(releaseText()).toMatch(/^\d+\.\d+\.\d+(\+[0-9a-f]{12}(-dirty)?)?$/);
});

it.each([
  ["odd", '{ "carrier": "sandboxx", "keepData": false }', "carrier: "],
  ["broken", "{", "is not valid:"],
])(
  "a deployment of the stage %s ends with what is wrong in its file, and no stack",
  async (name, content, wrong) => {
    const folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-stages-"));
    await writeFile(path.join(folder, `${name}.json`), content);
    const env = {
      PATH: process.env["PATH"],
      STAGES_FOLDER: folder,
      CDK_CONTEXT_JSON: JSON.stringify({ stage: name }),
    };
    const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
      execFile(process.execPath, ["infra/app.ts"], { env }, (error, _, text) => {
        resolve({ code: error?.code, stderr: text });
      });
    });
    await rm(folder, { recursive: true });
    expect(code).toBe(1);
    expect(stderr).toContain(wrong);
    expect(stderr).not.toMatch(/^\s+at |node:internal/m);
  },
);
