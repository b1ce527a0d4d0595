import * as z from "zod/mini";

import { findUserByEmail } from "../../shared/accounts/user-record.ts";
import {
  findSuppression,
  liftSuppression,
  type Suppression,
} from "../../shared/emails/suppression-record.ts";
import { command, part } from "./command.ts";

const Address = part(
  "<address>",
  "an email address",
  z.email("must be an email address").check(z.toLowerCase()),
  {
    isPersonal: true,
  },
);

const show = command({
  name: "suppressions show",
  summary: "Show whether emails are sent to an address, or why not",
  details:
    "None are sent to an address from which one came back for good, or whose reader reported one as unwanted. A stage " +
    "receives these events if its file names email.configurationSet.",
  examples: ["ada@example.com --stage prod"],
  input: z.object({ address: Address }),
  run: async ({ address }, { output }) => {
    const suppression = await findSuppression(address);
    output.result(
      { address, suppression: suppression ?? null },
      suppression === undefined
        ? `emails are sent to ${address}`
        : `${address}: ${suppressionText(suppression)}`,
    );
  },
});

const allow = command({
  name: "suppressions remove",
  summary: "Send emails to an address again that one came back from, or that reported one",
  details:
    "You know from the person that the address works, and that they want the emails. Amazon SES may have the address on a list " +
    "of its own: `aws sesv2 delete-suppressed-destination --email-address ADDRESS` takes it off that.",
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
    output.result({ address, wasSuppressed: suppression !== undefined }, `emails are sent to ${address}`);
  },
});

/** Why no emails are sent to an address. */
export function suppressionText({ reason, since }: Suppression): string {
  const happened = reason === "bounce" ? "came back" : "was reported as unwanted";
  return `no emails are sent: one of ${since} ${happened} (suppressions remove)`;
}

export const emailCommands = [show, allow];
