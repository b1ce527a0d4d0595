import { afterAll, beforeAll, expect, it } from "vitest";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { guardAgainstLookAlikes } from "../../infra/operator/look-alikes.ts";
import { Output } from "../../infra/operator/output.ts";
import { Customer } from "../support/api.ts";
import { captured, operator, type Ended } from "../support/operator.ts";
import { startOperatedGateway } from "../support/own-gateway.ts";

/*
 * The warnings before the approval of a sender ID that resembles another.
 */

let gateway: LocalGateway;
let stop: () => Promise<void>;
let holder: Customer;
beforeAll(async () => {
  ({ gateway, stop } = await startOperatedGateway());
  const held = await request("HARBOURBK");
  holder = held.customer;
  await approve(held);
});
afterAll(async () => stop());

interface Requested {
  readonly customer: Customer;
  readonly id: string;
}

/** Requests a sender ID, for a new customer unless one is given. */
async function request(senderId: string, of?: Customer): Promise<Requested> {
  const customer = of ?? (await Customer.register({ baseUrl: gateway.url }));
  return { customer, id: (await customer.client.createSenderId({ body: { senderId } })).id };
}

async function approve({ customer, id }: Requested, ...more: readonly string[]): Promise<Ended> {
  return operator(["sender-ids", "approve", customer.email, id, ...more]);
}

async function statusOf({ customer, id }: Requested): Promise<string | undefined> {
  const { rows } = await customer.client.listSenderIds({});
  return rows.find((each) => each.id === id)?.status;
}

it("one that resembles another organization's is shown with it, and approved when that is accepted", async () => {
  const asked = await request("HARB0URBK");
  const rejected = await approve(asked);
  expect(rejected).toMatchObject({
    code: 1,
    err: "Nothing was changed: HARB0URBK resembles 1 name. Use --allow-look-alikes to approve it.\n",
  });
  expect(rejected.out).toMatch(new RegExp(`^HARBOURBK +looks the same +${holder.organizationId} +`, "m"));
  expect(await statusOf(asked)).toBe("pending");

  const approved = await approve(asked, "--allow-look-alikes");
  expect(approved).toMatchObject({ code: 0, err: "Warning: HARB0URBK resembles 1 name.\n" });
  expect(await statusOf(asked)).toBe("approved");
  const { out } = await operator(["audit-log", asked.customer.email, "--json"]);
  const entries = out.split("\n").filter((line) => line.includes("sender-ids approve"));
  expect(entries).toHaveLength(1);
  expect(JSON.parse(entries[0] ?? "")).toMatchObject({ subject: { allowLookAlikes: true } });
});

it("one that resembles a well-known name is shown with it", async () => {
  const asked = await request("PAYPA1");
  const rejected = await approve(asked, "--json");
  expect(rejected.code).toBe(1);
  expect(JSON.parse(rejected.out)).toEqual({ senderId: "PAYPAL", resemblance: "looks the same" });
  expect(await approve(asked, "--allow-look-alikes")).toMatchObject({ code: 0 });
});

it("an organization's own, an unapproved one, and a number do not prevent an approval", async () => {
  expect(await approve(await request("RIVERBANK", holder))).toMatchObject({ code: 0, err: "" });
  expect(await approve(await request("RIVERBANKS", holder))).toMatchObject({ code: 0, err: "" });
  await request("MEADOW");
  expect(await approve(await request("MEAD0W"))).toMatchObject({ code: 0, err: "" });
  expect(await approve(await request("4478901"))).toMatchObject({ code: 0, err: "" });
  expect(await approve(await request("4478907"))).toMatchObject({ code: 0, err: "" });
});

it("the same sender ID of another organization is left to --shared", async () => {
  expect(await approve(await request("QUAYSIDE", holder))).toMatchObject({ code: 0 });
  const asked = await request("QuaySide");
  const { out, err } = await approve(asked);
  expect(out).toBe("");
  expect(err).toContain(`approved for another organization: ${holder.organizationId}`);
  expect(await approve(asked, "--shared")).toMatchObject({ code: 0, err: "" });
});

it("if not all organizations can be compared, the operator has to accept that too", async () => {
  const { organizationId } = await Customer.register({ baseUrl: gateway.url });
  const guard = async (areAccepted: boolean) =>
    captured(async () => {
      const asked = { organizationId, senderId: "LIGHTHAUS", areAccepted };
      await guardAgainstLookAlikes(asked, { output: new Output(false) }, 0);
    });
  await expect(guard(false)).rejects.toThrow("Only the first 0 organizations were compared");
  expect((await guard(true)).stderr).toContain("Warning: Only the first 0 organizations were compared.");
});
