import { outputNames } from "@sms-gateway/stack/constructs/stack-outputs.ts";

import { ApiError, errorCatalogue } from "../../shared/api/contract/errors.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { log } from "../../shared/platform/log.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import type { Ending } from "../../shared/platform/table/audit-log.ts";
import type { OperatorEntry } from "../../shared/tenancy/audit-log/operator-entries.ts";
import { queueEntry, queueOutcome } from "../../shared/tenancy/audit-log/queue-entry.ts";
import type { CheckedCommand } from "./command-line.ts";
import type { About, Connection } from "./context.ts";
import { deniedIn } from "./error-text.ts";

/** The audit log's record of one command: an entry before it changes anything, and its outcome. */
export class RecordOfCommand {
  readonly #command: Omit<CheckedCommand, "run">;
  readonly #stackOutput: Connection["stackOutput"];
  #entry: OperatorEntry | undefined;
  #after: Ending["after"];

  constructor(command: Omit<CheckedCommand, "run">, { stackOutput }: Pick<Connection, "stackOutput">) {
    this.#command = command;
    this.#stackOutput = stackOutput;
  }

  /**
   * Queues the entry.
   * @throws Error when the queue has not accepted it, so that nothing may be changed
   */
  async begin({ organizationId, before }: About): Promise<void> {
    const { operatorIdentity } = await import("./identity.ts");
    const { name, recorded, stage } = this.#command;
    const { value } = this.#stackOutput(outputNames.queueUrl("auditEntries"));
    process.env[environmentNames.queueUrl.auditEntries] = value;
    this.#entry = await queueEntry({
      event: { organizationId, action: name, subject: recorded, before },
      claimedArn: await operatorIdentity(stage),
    });
  }

  /** Sets the state after the change. */
  changed(after: NonNullable<Ending["after"]>): void {
    this.#after = after;
  }

  /** Queues the outcome. After an error the change was rejected, or its outcome is unknown. */
  async end(error?: unknown): Promise<void> {
    if (this.#entry === undefined) return;
    // A command that the policy of its role denies has changed nothing.
    const isDenied = this.#after === undefined && deniedIn(error) !== undefined;
    const ending: Ending =
      error === undefined ? { outcome: "done" } : isDenied ? { outcome: "refused" } : endingOf(error);
    const ended = { ...this.#entry, ending: { ...ending, after: this.#after } };
    try {
      await queueOutcome(ended);
    } catch (cause) {
      log.error("audit_log.outcome_not_written", { error: cause });
    }
  }
}

/** Returns how a command failed. Commands replace the message of an error of shared code, and keep it as the cause. */
export function endingOf(error: unknown): Ending {
  if (error instanceof RejectedError) return { outcome: "refused" };
  if (!(error instanceof ApiError)) {
    return error instanceof Error && error.cause !== undefined
      ? endingOf(error.cause)
      : { outcome: "unknown" };
  }
  const { code } = error;
  return { outcome: errorCatalogue[code].status < 500 ? "refused" : "unknown", errorCode: code };
}
