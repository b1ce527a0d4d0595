import * as z from "zod/mini";

import { KnownPhoneNumber } from "../../shared/contract/phone-numbers.ts";
import { eraseNumber } from "../../shared/erasure/number.ts";
import { eraseOrganization } from "../../shared/erasure/organization.ts";
import { listWallets } from "../../shared/wallet/record.ts";
import { command, Organization, part } from "./command.ts";
import { readOrganization } from "./organizations.ts";

const ofOrganization = command({
  name: "organizations erase",
  summary: "Erase an organisation, but for its ledger",
  details:
    "Its wallet has to be closed, empty and settled: wallets close, wallets debit, twenty minutes. Users, invitations, keys, KYC, sender " +
    "IDs, contacts, opt-outs, templates, campaigns, messages, replies, webhooks and deliveries go; wallet and ledger stay, which have ids and " +
    "amounts. An erasure that was interrupted, or met messages that are still to be sent, is finished by the same command " +
    "with the organisation's id. Export first what must be handed out.",
  examples: ["ada@example.com", "org_01M7Y6EGDXHA99AE471ACHQK57 --stage prod"],
  asksFirst: true,
  input: z.object({ organization: Organization }),
  run: async (input, { output, confirm }) => {
    const { id, name } = await readOrganization(input.organization);
    await confirm(`erase all that there is of ${name} (${id}), but for its ledger`, { organizationId: id });
    const result = await eraseOrganization(id, (erased) => output.progress(`${erased} items gone`));
    const { erased, messagesLeft } = result;
    const rest =
      messagesLeft === 0 ? "" : `; ${messagesLeft} messages are still to be sent or refunded: repeat it then`;
    output.result({ organizationId: id, ...result }, `${id}: ${erased} items are gone${rest}`);
    if (messagesLeft > 0) process.exitCode = 1;
  },
});

const ofNumber = command({
  name: "recipients erase",
  summary: "Take a phone number out of all that there is of it",
  details:
    "Out of contacts, messages with their texts, replies, and deliveries of webhooks. The ledger has no numbers. Whoever has opted " +
    "out stays so: of that nothing is kept but the number. Messages that are still to be sent, and deliveries that " +
    "are still to be made, are counted as left: repeat it a day later, when answers to repeated requests are gone too. Reads " +
    "all messages of the organisations.",
  examples: ["15005550100 ada@example.com", "+15005550100 --stage prod"],
  asksFirst: true,
  input: z.object({
    number: part("<number>", "in international form", KnownPhoneNumber, { isPersonal: true }),
    organizations: part(
      "[organisation...]",
      "ids, or emails of users; without any, all that have a wallet",
      z.array(z.string()),
      { isPersonal: true },
    ),
  }),
  run: async ({ number, organizations }, { output, confirm, changed }) => {
    const ids = await Promise.all(organizations.map(async (each) => (await readOrganization(each)).id));
    const where = ids.length === 0 ? "all organisations" : ids.join(", ");
    await confirm(`erase the number ${number} at ${where}`, {
      organizationId: ids.length === 1 ? ids[0] : undefined,
    });
    let lookedAt = 0;
    let left = 0;
    for await (const organizationId of ids.length === 0 ? listWallets() : ids) {
      const erased = await eraseNumber(organizationId, number);
      lookedAt += 1;
      left += erased.left;
      const { contacts, optOutsKept, messages, inbound, deliveries } = erased;
      if (contacts + optOutsKept + messages + inbound + deliveries + erased.left > 0) {
        output.result(
          { organizationId, ...erased },
          `${organizationId}: ${contacts} contacts, ${messages} messages, ${inbound} replies, ${deliveries} deliveries erased; ` +
            `${optOutsKept} opt-outs kept, ${erased.left} left`,
        );
      }
      output.progress(`${lookedAt} organisations looked at`);
    }
    changed({ organizationIds: ids.length === 0 ? "all" : ids, left });
    output.note(
      `${lookedAt} organisations looked at${left === 0 ? "" : `; ${left} left: repeat it a day later`}`,
    );
    if (left > 0) process.exitCode = 1;
  },
});

export const eraseCommands = [ofOrganization, ofNumber];
