import * as z from "zod/mini";

import { GivenPhoneNumber } from "../../shared/api/contract/phone-numbers.ts";
import { liftForOperator } from "../../shared/messages/opt-outs/opt-outs.ts";
import { findOptOut } from "../../shared/messages/opt-outs/record.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { digestOfNumber } from "../../shared/platform/table/audit-log.ts";
import { command, Organization, personal, Reason } from "./command.ts";
import { readOrganization } from "./organization.ts";

export const removeOptOut = command({
  name: "opt-outs remove",
  summary: "Remove the opt-out of a phone number, even one that the person made with STOP",
  details:
    "Customers cannot remove a STOP themselves. Confirm by other means that the person wants messages again. A STOP that " +
    "they send later counts again. The audit log keeps a digest instead of the number.",
  examples: [
    "15005550100 ada@example.com --reason 'Ticket 12: requested by letter'",
    "15005550100 org_01M7Y6EGDXHA99AE471ACHQK57 --reason 'Ticket 12' --stage prod",
  ],
  asksFirst: true,
  input: z.object({
    number: personal("<number>", "phone number in international form", GivenPhoneNumber),
    organization: Organization,
    reason: Reason,
  }),
  run: async (input, { output, confirm, changed }) => {
    const { id: organizationId, name } = await readOrganization(input.organization);
    const { number: phoneNumber } = input;
    const optOut = await findOptOut(organizationId, phoneNumber);
    if (optOut === undefined)
      throw new RejectedError(`${phoneNumber} has not opted out of messages of ${name}.`);
    const { source, createdAt } = optOut;
    const phoneNumberDigest = digestOfNumber(organizationId, phoneNumber);
    const how = source === "reply" ? "made with STOP" : "recorded by the customer";
    await confirm(
      `remove the opt-out of ${phoneNumber} from ${name} (${organizationId}), ${how} at ${createdAt}`,
      { organizationId, before: { phoneNumberDigest, source, createdAt } },
    );
    const lifted = await liftForOperator(organizationId, phoneNumber);
    changed({ phoneNumberDigest, lifted: lifted !== undefined });
    const text = `${phoneNumber} receives messages of ${name} again`;
    output.result({ organizationId, lifted: lifted ?? null }, text);
  },
});
