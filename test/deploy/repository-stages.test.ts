import { cp } from "node:fs/promises";
import path from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import { outputNames } from "../../infra/constructs/stack-outputs.ts";
import { projectRoot } from "../../infra/project-root.ts";
import { deploymentTimeoutMs, destroy, operator, outputOf, smoke, statusOf } from "./stage-commands.ts";
import { assemblyOf, deploy, mustRunCdk } from "./stages.ts";

/*
 * `dev` and `prod` are those of this repository. `prod` gets its firewall last, because the emulator has no CloudFront
 * whose address could be called. The carrier of `prod` is real, and the emulator does not know it.
 */

describe("the stages of this repository", () => {
  beforeAll(async () => {
    await deploy("dev", { validates: true });
    await deploy("prod", { validates: true });
  }, 2 * deploymentTimeoutMs);

  it("pass the smoke test, except for the work of a real carrier", async () => {
    expect(await smoke("dev")).toMatchObject({ code: 0, err: "" });
    const { code, out, err } = await smoke("prod");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("skipped, because the carrier of stage prod is real");
  });

  it("ask before they change what customers have, where data is kept", async () => {
    const email = "nobody@example.com";
    const credit = ["wallets", "credit", email, "20", "--reason", "Paid"];
    await expect(operator("prod", ...credit)).rejects.toThrow("add --yes");
    await expect(operator("dev", ...credit)).rejects.toThrow(`There is no organization ${email}`);
  });

  it("are deleted with their tables when they are destroyed, if they keep no data", async () => {
    const tableName = await outputOf("dev", outputNames.tableName);
    await mustRunCdk([...destroy, assemblyOf("dev")]);
    await expect(statusOf(tableName)).rejects.toMatchObject({ name: "ResourceNotFoundException" });
  });

  it(
    "get a firewall while they live, from a stack that is created first",
    async () => {
      const tableName = await outputOf("prod", outputNames.tableName);
      const stagesFolder = process.env["STAGES_FOLDER"] ?? "";
      await cp(path.join(projectRoot, "infra/stages/prod.json"), path.join(stagesFolder, "prod.json"));
      await deploy("prod");
      expect(await outputOf("prod", outputNames.apiUrl)).toContain("cloudfront");
      expect(await outputOf("prod", outputNames.tableName)).toBe(tableName);
    },
    deploymentTimeoutMs,
  );
});
