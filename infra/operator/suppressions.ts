import * as z from "zod/mini";

import { Email } from "../../shared/api/contract/email-addresses.ts";
import {
  findSuppression,
  liftSuppression,
  type Suppression,
} from "../../shared/notices/emails/suppression-record.ts";
import { findUserByEmail } from "../../shared/tenancy/users/record.ts";
import { command, personal } from "./command.ts";

const Address = personal("<address>", "email address", Email);

const show = command({
  name: "suppressions show",
  summary: "Show whether the gateway sends emails to an address, or why not",
  details:
    "An address is suppressed after a permanent bounce or a complaint. A stage receives these events if its file names " +
    "email.configurationSet.",
  examples: ["ada@example.com --stage prod"],
  discloses: true,
  input: z.object({ address: Address }),
  run: async ({ address }, { output }) => {
    const suppression = await findSuppression(address);
    const text = suppression === undefined ? "not suppressed" : suppressionText(suppression);
    output.result({ address, suppression: suppression ?? null }, `${address}: ${text}`);
  },
});

const remove = command({
  name: "suppressions remove",
  summary: "Send emails to a suppressed address again",
  details:
    "Confirm with the recipient first that the address works and that they want the emails. Amazon SES may suppress the " +
    "address too: `aws sesv2 delete-suppressed-destination --email-address ADDRESS` removes it there.",
  examples: ["ada@example.com", "ada@example.com --stage prod"],
  asksFirst: true,
  input: z.object({ address: Address }),
  run: async ({ address }, { output, confirm, changed }) => {
    const [suppression, user] = await Promise.all([findSuppression(address), findUserByEmail(address)]);
    await confirm(`send emails to ${address} again`, {
      organizationId: user?.organizationId,
      before: { suppression: suppression ?? "none" },
    });
    if (suppression !== undefined) await liftSuppression(address);
    changed({ suppression: "none" });
    output.result({ address, wasSuppressed: suppression !== undefined }, `${address}: not suppressed`);
  },
});

/** The reason why an address gets no emails. */
export function suppressionText({ reason, since }: Suppression): string {
  return `suppressed since ${since} (${reason})`;
}

export const suppressionCommands = [show, remove];
