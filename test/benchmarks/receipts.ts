import { createHash, randomUUID } from "node:crypto";

import type { Client } from "../../shared/api/client/client.ts";
import { setRoute } from "../../shared/carriers/manage-routes.ts";
import { CarrierRecord } from "../../shared/carriers/record.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import { HttpCarrier, says } from "../support/http-carrier.ts";
import type { Clock } from "./gateway.ts";
import type { Operation } from "./operations.ts";

const name = "reporting";
/** Numbers that are routed to the carrier. */
const prefix = "44";
const to = "447700900120";

/** The messages of a carrier after which functions write the figures of several together. */
export const settledAfter = 40;

/** A receipt that a carrier delivers by a callback, about a message that it accepted before. */
export function receiptOperation(
  baseUrl: string,
  clock: Clock,
  sender: { client: Client; organizationId: string },
): Operation {
  const token = randomUUID();
  let isRouted = false;
  let reference = "";
  const send = async (): Promise<void> => {
    const body = { to, message: "Your code is 123456", senderId: "ADASHOP" };
    const { id } = await sender.client.sendSms({ body });
    reference = `${sender.organizationId}.${id}`;
  };
  const report = async (): Promise<void> => {
    const response = await fetch(`${baseUrl}/v1/carriers/${name}/receipts?token=${token}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ status: "delivered", reference }),
    });
    if (response.status !== 200) throw new Error(`the receipt returned ${response.status}`);
  };
  return {
    name: "delivery receipt",
    prepare: async () => {
      if (!isRouted) {
        await addCarrier(token);
        // Functions know the carriers and routes of half a minute ago.
        clock.advance(minuteMs);
        isRouted = true;
        for (let sent = 0; sent < settledAfter; sent += 1) {
          await send();
          await report();
        }
      }
      await send();
    },
    act: report,
  };
}

/** Adds a carrier that accepts every message over HTTP, and routes some numbers to it. */
async function addCarrier(token: string): Promise<void> {
  const { url } = await HttpCarrier.start(says(200));
  const at = new Date().toISOString();
  const record = CarrierRecord.parse({
    entity: "carrier",
    name,
    settings: {
      kind: "http",
      url,
      body: { reference: "{reference}", to: "{to}", text: "{text}" },
      responses: [{ meaning: "accepted", statuses: [200] }],
      idempotent: true,
      receipts: { statusPath: "status", delivered: ["delivered"], referencePath: "reference" },
    },
    createdAt: at,
    updatedAt: at,
    callbackTokenHash: createHash("sha256").update(token).digest("hex"),
  });
  await putItem(putOf(keys.carrier(name), record));
  await setRoute({ prefix, carriers: [name] });
}
