import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { expect, it } from "vitest";

import { releaseText } from "../../infra/build/release/release.ts";
import { deployArguments } from "../../infra/stack/deploy-arguments.ts";

const onAssembly = ["deploy", "--app", ".build/cdk.out"];
const never = ["--require-approval", "never"];

it.each([
  [["-c", "stage=dev"], true, ["-c", "stage=dev"]],
  [["-c", "stage=dev"], false, [...never, "-c", "stage=dev"]],
  [["--require-approval", "broadening"], false, ["--require-approval", "broadening"]],
  [["--require-approval=any-change"], false, ["--require-approval=any-change"]],
])("npm run deploy -- %j, with a person to ask: %s", (typed, canAsk, expected) => {
  const { synthesize, deploy } = deployArguments(typed, canAsk);
  expect(synthesize).toEqual(["synth", "--quiet", "--output", ".build/cdk.out", ...typed]);
  expect(deploy).toEqual([...onAssembly, ...expected]);
});

const preparation = [
  "--method",
  "prepare-change-set",
  "--no-hotswap",
  "--no-hotswap-fallback",
  "--exclusively",
];

it.each([
  [
    ["-c", "stage=dev", "--method=direct", "--hotswap"],
    ["-c", "stage=dev", "--hotswap"],
  ],
  [
    ["-m", "direct", "--require-approval", "broadening", "--import-existing-resources"],
    ["--import-existing-resources"],
  ],
  [
    ["--allow-replacement", "Table1", "--profile", "ops", "--parameters=A=B"],
    ["--profile", "ops", "--parameters=A=B"],
  ],
])("npm run deploy -- %j only prepares a change set first", (typed, passedOn) => {
  const { prepare, deploy } = deployArguments(typed, true);
  expect(prepare).toEqual([...onAssembly, ...never, ...passedOn, ...preparation]);
  expect(deploy).toEqual([...onAssembly, ...typed.filter((word) => !/^(--allow|Table)/.test(word))]);
});

it("reads the options that lead to the change set, and to what may be replaced", () => {
  const typed = "--output=out -c stage=dev --profile ops --region=eu-west-1 --change-set-name mine";
  const allowed = "--allow-replacement Table1 --allow-replacement=Key2";
  const read = deployArguments(`${typed} ${allowed}`.split(" "), true);
  expect(read.synthesize).toEqual(["synth", "--quiet", "--output", "out", ...read.deploy.slice(3)]);
  expect(read).toMatchObject({
    allowed: ["Table1", "Key2"],
    assembly: "out",
    changeSet: "mine",
    profile: "ops",
    region: "eu-west-1",
  });
});

it.each(["--watch", "--app=.build/cdk.out", "-a", "--method=execute-change-set"])(
  "does not deploy with %s, which leaves something unchecked",
  (option) => {
    expect(() => deployArguments(["-c", "stage=dev", option], true)).toThrow("use npx cdk deploy");
  },
);

it("a release is named by its version and its commit", () => {
  expect(releaseText()).toMatch(/^\d+\.\d+\.\d+(-dev\.\d+)?(\+[0-9a-f]{12}(-dirty)?)?$/);
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
      execFile(process.execPath, ["infra/stack/app.ts"], { env }, (error, _, text) => {
        resolve({ code: error?.code, stderr: text });
      });
    });
    await rm(folder, { recursive: true });
    expect(code).toBe(1);
    expect(stderr).toContain(wrong);
    expect(stderr).not.toMatch(/^\s+at |node:internal/m);
  },
);
