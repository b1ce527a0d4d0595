import { cp } from "node:fs/promises";
import path from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import { projectRoot } from "../../infra/build/project-root.ts";
import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import { failedCreation } from "../../infra/stack/failed-creation.ts";
import { isNightly } from "../support/second-opinions.ts";
import { stackOf } from "./stage-changes.ts";
import { deploymentTimeoutMs, destroy, operator, outputOf, smoke, statusOf } from "./stage-commands.ts";
import { assemblyOf, deploy, mustRunCdk } from "./stages.ts";

/*
 * `prod` is that of this repository, and so is `dev`, at night only: it differs from `open` in settings alone. `prod` gets its
 * firewall last, also at night, because the emulator has no CloudFront whose address could be called, and without a domain. The carrier of `prod`
 * is real, and the emulator does not know it.
 */

describe("the stage prod of this repository", () => {
  it(
    "is created by the command whose first attempt failed, without a step by hand",
    async () => {
      const preload = new URL("failing-resource.ts", import.meta.url);
      await expect(deploy("prod", { preload })).rejects.toThrow("The role with name missing cannot be found");
      const failed = expect.stringMatching(failedCreation);
      expect(await stackOf("prod")).toMatchObject({ Stacks: [{ StackStatus: failed }] });
      await deploy("prod", { validates: true });
    },
    2 * deploymentTimeoutMs,
  );

  it("passes the smoke test, except for the work of a real carrier", async () => {
    const { code, out, err } = await smoke("prod");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("skipped, because the carrier of stage prod is real");
  });

  it("asks before it changes what customers have, because it keeps data", async () => {
    const email = "nobody@example.com";
    const credit = ["wallets", "credit", email, "20", "--reason", "Paid"];
    await expect(operator("prod", ...credit)).rejects.toThrow("add --yes");
    await expect(operator("open", ...credit)).rejects.toThrow(`There is no organization ${email}`);
  });

  it.each(isNightly ? ["a firewall"] : [])(
    "gets %s while it lives, from a stack that is created first",
    async () => {
      const tableName = await outputOf("prod", outputNames.tableName);
      const stagesFolder = process.env["STAGES_FOLDER"] ?? "";
      await cp(path.join(projectRoot, "infra/stack/stages/prod.json"), path.join(stagesFolder, "prod.json"));
      await expect(deploy("prod")).rejects.toThrow("accepts TLS 1.0: set domain");
      const assembly = assemblyOf("prod");
      await mustRunCdk(["deploy", "--app", assembly, "--all", "--require-approval", "never"]);
      expect(await outputOf("prod", outputNames.apiUrl)).toContain("cloudfront");
      expect(await outputOf("prod", outputNames.tableName)).toBe(tableName);
    },
    deploymentTimeoutMs,
  );
});

describe.each(isNightly ? ["dev"] : [])("the stage %s of this repository", (stage) => {
  beforeAll(async () => deploy(stage, { validates: true }), deploymentTimeoutMs);

  it("passes the smoke test", async () => {
    expect(await smoke(stage)).toMatchObject({ code: 0, err: "" });
  });

  it("is deleted with its table when it is destroyed, because it keeps no data", async () => {
    const tableName = await outputOf(stage, outputNames.tableName);
    await mustRunCdk([...destroy, assemblyOf(stage)]);
    await expect(statusOf(tableName)).rejects.toMatchObject({ name: "ResourceNotFoundException" });
  });
});
