import * as z from "zod/mini";

import { KnownPhoneNumber } from "../../shared/contract/phone-numbers.ts";
import { liftForOperator } from "../../shared/opt-outs/opt-outs.ts";
import { readStanding } from "../../shared/opt-outs/record.ts";
import { digestOfNumber } from "../../shared/platform/audit-log.ts";
import { Refusal } from "../../shared/platform/refusal.ts";
import { command, Organization, part, RequiredText } from "./command.ts";
import { readOrganization } from "./organizations.ts";

const lift = command({
  name: "opt-outs remove",
  summary: "Lift the opt-out of a number, also one that the person has asked for by STOP",
  details:
    "An organisation cannot lift a STOP itself. Lift it only if you know by other means that the person wants messages again. " +
    "A STOP that they send later, or that arrives later, counts again. The audit log has a digest in the place of the number.",
  examples: [
    "15005550100 ada@example.com --reason 'Ticket 12: asked by letter'",
    "15005550100 org_01M7Y6EGDXHA99AE471ACHQK57 --reason 'Ticket 12' --stage prod",
  ],
  asksFirst: true,
  input: z.object({
    number: part("<number>", "in international form", KnownPhoneNumber, { isPersonal: true }),
    organization: Organization,
    reason: part("--reason <text>", "why; kept in the audit log", RequiredText),
  }),
  run: async (input, { output, confirm, changed }) => {
    const { id: organizationId, name } = await readOrganization(input.organization);
    const { number: phoneNumber } = input;
    const { optOut } = await readStanding(organizationId, phoneNumber);
    if (optOut === undefined) throw new Refusal(`${phoneNumber} has not opted out of messages of ${name}.`);
    const { source, createdAt } = optOut;
    const phoneNumberDigest = digestOfNumber(organizationId, phoneNumber);
    const how = source === "reply" ? "which the person asked for by STOP" : "which the organisation noted";
    await confirm(
      `lift the opt-out of ${phoneNumber} at ${name} (${organizationId}), ${how}, of ${createdAt}`,
      { organizationId, before: { phoneNumberDigest, source, createdAt } },
    );
    const lifted = await liftForOperator(organizationId, phoneNumber);
    changed({ phoneNumberDigest, lifted: lifted !== undefined });
    output.result(
      { organizationId, lifted: lifted ?? null },
      `${phoneNumber} gets messages of ${name} again`,
    );
  },
});

export const optOutCommands = [lift];
