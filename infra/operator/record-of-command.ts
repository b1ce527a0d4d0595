import { ApiError, errorCatalogue } from "../../shared/api/contract/errors.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import {
  writeAuditEntry,
  writeAuditOutcome,
  type AuditEntryRecord,
  type Ending,
} from "../../shared/platform/table/audit-log.ts";
import type { CheckedCommand } from "./command-line.ts";
import type { About } from "./context.ts";

/** The audit log's record of one command: an entry before it changes anything, and its outcome. */
export class RecordOfCommand {
  readonly #command: Omit<CheckedCommand, "run">;
  #entry: AuditEntryRecord | undefined;
  #after: Ending["after"];

  constructor(command: Omit<CheckedCommand, "run">) {
    this.#command = command;
  }

  /**
   * Writes the entry.
   * @throws Error when it could not be written, so that nothing may be changed
   */
  async begin({ organizationId, before }: About): Promise<void> {
    const { operatorIdentity } = await import("./identity.ts");
    const { name, recorded, stage } = this.#command;
    const actor = { type: "operator", identity: await operatorIdentity(stage) } as const;
    this.#entry = await writeAuditEntry({ organizationId, actor, action: name, subject: recorded, before });
  }

  /** Sets the state after the change. */
  changed(after: NonNullable<Ending["after"]>): void {
    this.#after = after;
  }

  /** Writes the outcome. After an error the change was rejected, or its outcome is unknown. */
  async end(error?: unknown): Promise<void> {
    const ending: Ending = error === undefined ? { outcome: "done" } : endingOf(error);
    if (this.#entry !== undefined) await writeAuditOutcome(this.#entry, { ...ending, after: this.#after });
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
