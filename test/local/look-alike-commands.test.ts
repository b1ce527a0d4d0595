import { beforeAll, expect, it } from "vitest";

import { guardAgainstLookAlikes } from "../../infra/operator/look-alikes.ts";
import { Output } from "../../infra/operator/output.ts";
import type { Customer } from "../support/api.ts";
import { auditLog, captured, operator, outputOf, rejectionOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";

/*
 * The warnings before the approval of a sender ID that resembles another.
 */

const { register } = useOperatedGateway();
let holder: Customer;
beforeAll(async () => {
  holder = await register();
  await outputOf((await request("HARBOURBK", holder)).approve);
});

/** Requests a sender ID, for a new customer unless one is given. @returns the command that approves it */
async function request(senderId: string, of?: Customer) {
  const { client, email } = of ?? (await register());
  const { id } = await client.createSenderId({ body: { senderId } });
  const status = async () => (await client.listSenderIds({})).rows.find((each) => each.id === id)?.status;
  return { email, status, approve: `sender-ids approve ${email} ${id}` };
}

it("one that resembles another organization's is shown with it, and approved when that is accepted", async () => {
  const { approve, email, status } = await request("HARB0URBK");
  const rejected = await operator(approve);
  expect(rejected).toMatchObject({
    code: 1,
    err: "Nothing was changed: HARB0URBK resembles 1 name. Use --allow-look-alikes to approve it.\n",
  });
  expect(rejected.out).toMatch(new RegExp(`^HARBOURBK +looks the same +${holder.organizationId} +`, "m"));
  expect(await status()).toBe("pending");

  const approved = await operator(`${approve} --allow-look-alikes`);
  expect(approved).toMatchObject({ code: 0, err: "Warning: HARB0URBK resembles 1 name.\n" });
  expect(await status()).toBe("approved");
  const entries = await auditLog("sender-ids approve", email);
  expect(entries).toMatchObject([{ subject: { allowLookAlikes: true } }]);
});

it("one that resembles a well-known name is shown with it", async () => {
  const { approve } = await request("PAYPA1");
  const rejected = await operator(`${approve} --json`);
  expect(rejected.code).toBe(1);
  expect(JSON.parse(rejected.out)).toEqual({ senderId: "PAYPAL", resemblance: "looks the same" });
  expect(await operator(`${approve} --allow-look-alikes`)).toMatchObject({ code: 0 });
});

it("an organization's own, an unapproved one, and a number do not prevent an approval", async () => {
  await request("MEADOW");
  for (const [senderId, of] of [
    ["RIVERBANK", holder],
    ["RIVERBANKS", holder],
    ["MEAD0W"],
    ["4478901"],
    ["4478907"],
  ] as const) {
    const { approve, email } = await request(senderId, of);
    expect(await outputOf(approve), email).toContain(`${senderId} of `);
  }
});

it("the same sender ID of another organization is left to --shared", async () => {
  await outputOf((await request("QUAYSIDE", holder)).approve);
  const { approve } = await request("QuaySide");
  expect(await rejectionOf(approve)).toContain(`approved for another organization: ${holder.organizationId}`);
  await outputOf(`${approve} --shared`);
});

it("if not all organizations can be compared, the operator has to accept that too", async () => {
  const { organizationId } = await register();
  const guard = async (areAccepted: boolean) =>
    captured(async () => {
      const asked = { organizationId, senderId: "LIGHTHAUS", areAccepted };
      await guardAgainstLookAlikes(asked, { output: new Output(false) }, 0);
    });
  await expect(guard(false)).rejects.toThrow("Only the first 0 organizations were compared");
  expect((await guard(true)).stderr).toContain("Warning: Only the first 0 organizations were compared.");
});
