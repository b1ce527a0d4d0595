import { ApiError, errorCatalogue } from "../../shared/api/contract/errors.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import {
  writeAuditEntry,
  writeAuditOutcome,
  type AuditEntryRecord,
  type Ending,
} from "../../shared/platform/table/audit-log.ts";
import type { Stage } from "../stages/stage.ts";
import type { Typed } from "./command.ts";
import type { About } from "./context.ts";

/** The audit log's record of one command: an entry before it changes anything, and its outcome. */
export class RecordOfCommand {
  readonly #stage: Stage | undefined;
  readonly #name: string;
  readonly #recorded: Typed;
  #entry: AuditEntryRecord | undefined;
  #after: Ending["after"];

  /** @param recorded what was typed, without personal data */
  constructor(stage: Stage | undefined, name: string, recorded: Typed) {
    this.#stage = stage;
    this.#name = name;
    this.#recorded = recorded;
  }

  /**
   * Writes the entry.
   * @throws Error when it could not be written, so that nothing may be changed
   */
  async begin({ organizationId, before }: About): Promise<void> {
    const { operatorIdentity } = await import("./identity.ts");
    this.#entry = await writeAuditEntry({
      organizationId,
      actor: { type: "operator", identity: await operatorIdentity(this.#stage) },
      action: this.#name,
      subject: this.#recorded,
      before,
    });
  }

  /** Sets the state after the change. */
  changed(after: NonNullable<Ending["after"]>): void {
    this.#after = after;
  }

  async end(): Promise<void> {
    await this.#write({ outcome: "done" });
  }

  /** Records a failure: the change was rejected, or its outcome is unknown. */
  async failed(error: unknown): Promise<void> {
    await this.#write(endingOf(error));
  }

  async #write(ending: Ending): Promise<void> {
    if (this.#entry !== undefined) await writeAuditOutcome(this.#entry, { ...ending, after: this.#after });
  }
}

/** Commands replace the message of an error of the shared code, and keep the error as the cause. */
function endingOf(error: unknown): Ending {
  if (error instanceof RejectedError) return { outcome: "refused" };
  if (!(error instanceof ApiError)) {
    return error instanceof Error && error.cause !== undefined
      ? endingOf(error.cause)
      : { outcome: "unknown" };
  }
  const { code } = error;
  return { outcome: errorCatalogue[code].status < 500 ? "refused" : "unknown", errorCode: code };
}
