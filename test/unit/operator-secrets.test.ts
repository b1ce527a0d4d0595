import { expect, it } from "vitest";
import * as z from "zod/mini";

import { WebhookPayload } from "../../shared/api/contract/webhooks.ts";
import { operations } from "../../shared/api/routes.ts";
import { toApiMessage } from "../../shared/messages/message/record.ts";
import { sentMessage } from "../support/message-records.ts";

/*
 * Only the operator may see the carrier of a message and its cost. All tests check responses against the contract, and
 * reject other fields (`test/support/contract.ts`). So it is enough that the contract has none of these fields.
 */

const ofOperator = /carrier|cost|margin|rejectedBy/i;

/** The names of all fields that a schema has, however deep. */
function fieldsOf(schema: z.ZodMiniType): string[] {
  const names = new Set<string>();
  JSON.stringify(z.toJSONSchema(schema, { unrepresentable: "any" }), (_key, value: unknown) => {
    if (typeof value === "object" && value !== null && "properties" in value) {
      for (const name of Object.keys(Object(value.properties))) names.add(name);
    }
    return value;
  });
  return [...names];
}

it.each(operations())("%s returns nothing about carriers and costs", (_name, { data }) => {
  expect(fieldsOf(data).filter((name) => ofOperator.test(name))).toEqual([]);
});

it("webhooks contain nothing about carriers and costs", () => {
  const fields = fieldsOf(WebhookPayload);
  expect(fields).toContain("event");
  expect(fields.filter((name) => ofOperator.test(name))).toEqual([]);
});

it("a message that has them is shown without them", () => {
  const message = sentMessage("org_01J00000000000000000000000", {
    carrier: "the-carrier",
    carrierReference: "the-reference",
    rejectedBy: ["the-other"],
    costMicros: 5_431,
  });
  const shown = JSON.stringify(toApiMessage(message, { hidesCodes: false }));
  expect(shown).toContain(message.id);
  for (const secret of ["the-carrier", "the-reference", "the-other", "5431", "0.005431"]) {
    expect(shown).not.toContain(secret);
  }
});
