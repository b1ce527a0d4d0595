import { ApiError, errorCatalogue } from "../../shared/contract/errors.ts";
import {
  writeAuditEntry,
  writeAuditOutcome,
  type AuditEntryRecord,
  type Ending,
} from "../../shared/platform/audit-log.ts";
import { Refusal } from "../../shared/platform/refusal.ts";
import type { Stage } from "../stages/stage.ts";
import type { Typed } from "./command.ts";
import type { About } from "./context.ts";

/** What the audit log has of one command: an entry before it changes anything, and what came of it. */
export class RecordOfCommand {
  readonly #stage: Stage | undefined;
  readonly #name: string;
  readonly #recorded: Typed;
  #entry: AuditEntryRecord | undefined;
  #after: Ending["after"];

  /** @param recorded what was typed, without what tells of a person */
  constructor(stage: Stage | undefined, name: string, recorded: Typed) {
    this.#stage = stage;
    this.#name = name;
    this.#recorded = recorded;
  }

  /**
   * Writes down that the command will change something.
   * @throws Error when it could not be written, so that nothing must be changed
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

  /** Notes how things are after the change. */
  changed(after: NonNullable<Ending["after"]>): void {
    this.#after = after;
  }

  /** Writes down that it is done. */
  async end(): Promise<void> {
    await this.#write({ outcome: "done" });
  }

  /** Records that it failed: that it was refused, or that its outcome is unknown. */
  async failed(error: unknown): Promise<void> {
    await this.#write(endingOf(error));
  }

  async #write(ending: Ending): Promise<void> {
    if (this.#entry !== undefined) await writeAuditOutcome(this.#entry, { ...ending, after: this.#after });
  }
}

/** Commands put an error of the shared code into words of their own, and keep it as the cause. */
function endingOf(error: unknown): Ending {
  if (error instanceof Refusal) return { outcome: "refused" };
  if (!(error instanceof ApiError)) {
    return error instanceof Error && error.cause !== undefined
      ? endingOf(error.cause)
      : { outcome: "unknown" };
  }
  const { code } = error;
  return { outcome: errorCatalogue[code].status < 500 ? "refused" : "unknown", errorCode: code };
}
