import { describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { Customer, errorOf } from "../support/api.ts";
import { operator, Organizations, rowsOf, smoke } from "./stage-commands.ts";

/* The operator's commands work on the stage `open`. */

describe("the operator's commands", () => {
  it("credit, debit and show a customer of a stage, once for a reference", async () => {
    const customer = await Customer.register();
    const credit = [
      "wallets",
      "credit",
      customer.email,
      "250",
      "--reason",
      "Invoice 117",
      "--reference",
      "117",
    ];
    await operator("open", ...credit);
    expect((await operator("open", ...credit)).out).toContain(
      "Nothing was changed: this movement was made before",
    );
    await operator("open", "wallets", "debit", customer.email, "12.5", "--reason", "Mistake");
    expect(await customer.balance()).toBe(237.5);
    const show = await operator("open", "organizations", "show", customer.email);
    expect(show.out).toContain("237.500000 USD, open");
    expect(show.out).toContain("Invoice 117");
    const [audit] = await rowsOf(Organizations, "open", "wallets", "verify", customer.email);
    expect(audit).toEqual({ organizationId: customer.organizationId, findings: [] });
  });

  it("close a wallet and open it again", async () => {
    const customer = await Customer.register({ balance: 1 });
    await operator("open", "wallets", "close", customer.email, "--reason", "Fraud");
    expect(errorOf(await customer.trySend())).toEqual({ status: 400, code: "WALLET_MISSING" });
    await operator("open", "wallets", "reopen", customer.email);
    expect(await customer.trySend()).toMatchObject({ status: 202 });
  });

  it("decide on the customers' submissions", async () => {
    const customer = await Customer.register();
    const { id } = await customer.client.createSenderId({ body: { senderId: "DEPLOYED" } });
    const kyc = await customer.client.submitKyc({ body: { businessName: "Acme" } });
    const Ids = z.object({ id: z.string() });
    expect(await rowsOf(Ids, "open", "sender-ids", "list")).toContainEqual({ id });
    expect(await rowsOf(Ids, "open", "kyc", "list")).toContainEqual({ id: kyc.id });
    await operator("open", "sender-ids", "approve", customer.email, id);
    await operator("open", "kyc", "reject", customer.email, kyc.id, "--reason", "Not known");
    expect((await customer.client.listSenderIds()).rows).toMatchObject([{ id, status: "approved" }]);
    expect(await customer.client.getKyc()).toMatchObject({
      status: "rejected",
      rejectionReason: "Not known",
    });
  });

  it("list parked jobs, and redrive them", async () => {
    const Parked = z.object({
      queue: z.string(),
      parked: z.number(),
      meaning: z.string().check(z.minLength(1)),
    });
    const queues = await rowsOf(Parked, "open", "dead-letters", "list");
    expect(queues.map(({ queue }) => queue)).toContain("refunds");
    const { out } = await operator("open", "dead-letters", "redrive", "refunds");
    expect(out).toContain("0 jobs moved to refunds");
  });

  it("pass the smoke test, with a call of a webhook", async () => {
    const { code, out } = await smoke("open");
    expect({ code, out }).toMatchObject({ code: 0 });
    expect(out).toContain("called with a valid signature");
  });
});
