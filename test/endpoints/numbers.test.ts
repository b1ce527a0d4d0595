import { expect, it } from "vitest";

import { AssignedNumber } from "../../shared/api/contract/inbound.ts";
import { assignNumber, releaseNumber } from "../../shared/messages/numbers/record.ts";
import { Customer, pageOf } from "../support/api.ts";

it("the numbers of an organization are listed, the shared ones with their keyword, and no others", async () => {
  const [customer, other] = await Promise.all([Customer.register(), Customer.register()]);
  const { organizationId } = customer;
  const digits = String(Date.now()).slice(-8);
  const [own, shared] = [`1203${digits}`, `1204${digits}`];
  const list = async (whose: Customer, query = "") =>
    pageOf(await whose.call(`/v1/numbers${query}`), AssignedNumber);
  expect(await list(customer)).toMatchObject({ rows: [], meta: { total: 0 } });
  await assignNumber({ number: own, organizationId });
  await assignNumber({ number: shared, organizationId, keyword: "pizza" });
  await assignNumber({ number: shared, organizationId: other.organizationId, keyword: "taxi" });
  expect((await list(customer)).rows).toEqual([{ number: own }, { number: shared, keyword: "PIZZA" }]);
  expect(await list(customer, "?limit=1&page=2")).toMatchObject({ rows: [{ number: shared }] });
  expect((await list(other)).rows).toEqual([{ number: shared, keyword: "TAXI" }]);
  await releaseNumber(own);
  expect((await list(customer)).rows).toEqual([{ number: shared, keyword: "PIZZA" }]);
});
