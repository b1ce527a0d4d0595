import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { expect, inject, it } from "vitest";

import { startLocalGateway } from "../../infra/local/gateway.ts";
import { keys } from "../../shared/platform/keys.ts";
import { deleteItem } from "../../shared/platform/table.ts";
import { Customer } from "../support/api.ts";

/** Runs an operator command as a person would, and waits for its end. */
async function operator(
  args: readonly string[],
  dataFolder: string,
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const env = { PATH: process.env["PATH"], DATA_DIR: dataFolder };
    execFile(process.execPath, ["infra/operator/main.ts", ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });
}

it("the audit passes on a gateway in order, fails on one that is not, and explains itself", async () => {
  const dataFolder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
  const gateway = await startLocalGateway({
    ...inject("assembly"),
    port: 0,
    dataFolder,
    log: () => undefined,
  });
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = gateway.dynamodbEndpoint;
  const [one, other] = [
    await Customer.register({ balance: 1, baseUrl: gateway.url }),
    await Customer.register({ balance: 2, baseUrl: gateway.url }),
  ];
  await one.send();

  const good = await operator(["audit"], dataFolder);
  expect(good).toMatchObject({ code: 0 });
  expect(good.output).toContain(`${one.organizationId}  0.992100 USD  2 entries  in order`);
  expect(good.output).toContain("2 wallets audited, 0 not in order");

  await deleteItem(keys.ledgerEntry(one.organizationId, 2));
  const bad = await operator(["audit", "--json"], dataFolder);
  expect(bad.code).toBe(1);
  expect(bad.output).toContain("seq 2 to 2 have no entry");
  expect((await operator(["audit", other.organizationId], dataFolder)).code).toBe(0);

  expect(await operator(["audit", "--help"], dataFolder)).toMatchObject({ code: 0 });
  expect(await operator(["nonsense"], dataFolder)).toMatchObject({ code: 2 });
  await gateway.stop();
  await rm(dataFolder, { recursive: true });
});
