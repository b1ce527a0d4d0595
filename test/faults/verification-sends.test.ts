import { expect, it } from "vitest";

import { Verification } from "../../shared/api/contract/verifications.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { VerificationRecord } from "../../shared/verifications/record.ts";
import { Customer, dataOf } from "../support/api.ts";

it("functions may send a code again, for a live key and a test key, with webhooks", async () => {
  const customer = await Customer.register({ balance: 1 });
  const { organizationId } = customer;
  await customer.client.createWebhook({
    body: { url: "http://127.0.0.1:9/nobody", events: ["verification.approved"] },
  });
  const test = (await customer.client.createApiKey({ body: { test: true } })).secret;
  for (const credential of [customer.token, test]) {
    const post = async (action: string, json: object): Promise<Verification> => {
      const response = await customer.call(`/v1/verifications${action}`, {
        method: "POST",
        json,
        credential,
      });
      return dataOf(response, Verification);
    };
    const start = { to: "15005550007", senderId: "ACME", code: "912345" };
    const { id } = await post("", start);
    // Half a minute would pass until then.
    const allowSend = async (): Promise<void> => {
      const set = { nextSendAt: new Date().toISOString() };
      await updateItem(VerificationRecord, updateOf(keys.verification(organizationId, id), { set }));
    };
    await allowSend();
    expect(await post(`/${id}/resend`, {})).toMatchObject({ id, sends: 2 });
    await allowSend();
    expect(await post("", { ...start, code: "K7WX" })).toMatchObject({ id, sends: 3 });
    const json = { id, code: "K7WX" };
    await customer.call("/v1/verifications/check", { method: "POST", json, credential });
    const read = await customer.call(`/v1/verifications/${id}`, { credential });
    expect(dataOf(read, Verification)).toMatchObject({ status: "approved", sends: 3 });
  }
});
