import { expect, it } from "vitest";
import * as z from "zod/mini";

import { pendingWorkOf } from "../../shared/platform/jobs/pending-work.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { putItem, updateItem, updateOf, putUnchecked } from "../../shared/platform/table/write.ts";
import { Customer } from "../support/api.ts";
import { runSchedule } from "../support/functions.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";

const { gateway } = await gatewayOfFile();

it("the function that erases unverified accounts has the permissions for all of their items", async () => {
  const { organizationId } = await Customer.register({ baseUrl: gateway.url });
  const payment = { entity: "payment", status: "failed", buyer: { name: "Ada" } };
  await putItem(putUnchecked(keys.payment(organizationId, "pay_1"), payment));
  const key = keys.organization(organizationId);
  const pendingWork = pendingWorkOf("EXPIRE-ACCOUNT", organizationId);
  const set = { pendingWork, visitAt: new Date(0).toISOString() };
  await updateItem(z.unknown(), updateOf(key, { set }));
  await runSchedule(gateway, "ExpireAccounts");
  expect(await findItem(z.unknown(), key, { consistent: true })).toBeUndefined();
  expect(await findItem(z.unknown(), keys.payment(organizationId, "pay_1"))).not.toHaveProperty("buyer");
});
