import { auditCommands } from "./audit.ts";
import type { Command } from "./command.ts";
import { deadLetterCommands } from "./dead-letters.ts";
import { organizationCommands } from "./organizations.ts";
import { reviewCommands } from "./reviews.ts";
import { walletCommands } from "./wallet.ts";

/** All commands, in the order that help lists them. */
export const commands: readonly Command[] = [
  ...organizationCommands,
  ...walletCommands,
  ...reviewCommands,
  ...deadLetterCommands,
  ...auditCommands,
];
