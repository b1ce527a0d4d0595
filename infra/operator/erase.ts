import * as z from "zod/mini";

import { eraseNumber } from "../../shared/accounts/erasure/number.ts";
import { eraseOrganization } from "../../shared/accounts/erasure/organization.ts";
import { GivenPhoneNumber } from "../../shared/api/contract/phone-numbers.ts";
import { command, Organization, Organizations, personal } from "./command.ts";
import { organizationIds, readOrganization } from "./organization.ts";

const organization = command({
  name: "organizations erase",
  summary: "Erase an organization, except its ledger, payments and invoices",
  details:
    "The wallet must be closed, empty and settled: use wallets close and wallets debit, then wait twenty minutes. Its payments " +
    "must have ended. The wallet, the ledger, payments and invoices remain, because the law requires them. All else is deleted, so export first what must " +
    "be kept. Repeat the command with the organization's ID if it was interrupted, or if messages were still to be sent.",
  examples: ["ada@example.com", "org_01M7Y6EGDXHA99AE471ACHQK57 --stage prod"],
  asksFirst: true,
  input: z.object({ organization: Organization }),
  run: async (input, { output, confirm }) => {
    const { id, name } = await readOrganization(input.organization);
    await confirm(`erase ${name} (${id}), except its ledger, payments and invoices`, { organizationId: id });
    const result = await eraseOrganization(id, (erased) => output.progress(`${erased} items erased`));
    const { erased, messagesLeft } = result;
    const rest =
      messagesLeft === 0
        ? ""
        : `; ${messagesLeft} messages are not yet sent or refunded: repeat the command later`;
    output.result({ organizationId: id, ...result }, `${id}: ${erased} items erased${rest}`);
    if (messagesLeft > 0) process.exitCode = 1;
  },
});

const recipient = command({
  name: "recipients erase",
  summary: "Erase a phone number from contacts, messages and deliveries",
  details:
    "Also erases texts of messages, inbound messages, contents of webhook deliveries and exports. An opt-out is kept, with the " +
    "number only. Messages, deliveries and exports in progress are counted as left: repeat the command a day later. By then " +
    "stored responses to repeated requests have expired too. The command reads all messages of the organizations.",
  examples: ["15005550100 ada@example.com", "+15005550100 --stage prod"],
  asksFirst: true,
  input: z.object({
    number: personal("<number>", "phone number in international form", GivenPhoneNumber),
    organizations: Organizations,
  }),
  run: async ({ number, organizations }, { output, confirm, changed }) => {
    const ids = await organizationIds(organizations);
    const named = Array.isArray(ids) ? ids.map(String) : undefined;
    await confirm(`erase the number ${number} in ${named?.join(", ") ?? "all organizations"}`, {
      organizationId: named?.length === 1 ? named[0] : undefined,
    });
    let [searched, left] = [0, 0];
    for await (const organizationId of ids) {
      const erased = await eraseNumber(organizationId, number);
      searched += 1;
      left += erased.left;
      const { contacts, optOutsKept, messages, inbound, deliveries, exports } = erased;
      if (contacts + optOutsKept + messages + inbound + deliveries + exports + erased.left > 0) {
        output.result(
          { organizationId, ...erased },
          `${organizationId}: erased in ${contacts} contacts, ${messages} messages, ${inbound} inbound messages, ` +
            `${deliveries} deliveries, ${exports} exports; ${optOutsKept} opt-outs kept, ${erased.left} left`,
        );
      }
      output.progress(`${searched} organizations searched`);
    }
    changed({ organizationIds: named ?? "all", left });
    const rest = left === 0 ? "" : `; ${left} left: repeat the command a day later`;
    output.note(`${searched} organizations searched${rest}`);
    if (left > 0) process.exitCode = 1;
  },
});

export const eraseCommands = [organization, recipient];
