import {
  writeAuditEntry,
  writeAuditOutcome,
  type AuditEntryRecord,
  type Ending,
} from "../../shared/platform/audit-log.ts";
import type { Stage } from "../stages/stage.ts";
import type { Typed } from "./command.ts";

/** What the audit log has of one command: an entry before it changes anything, and what came of it. */
export class RecordOfCommand {
  readonly #stage: Stage | undefined;
  readonly #name: string;
  readonly #typed: Typed;
  #entry: AuditEntryRecord | undefined;
  #after: Ending["after"];

  constructor(stage: Stage | undefined, name: string, typed: Typed) {
    this.#stage = stage;
    this.#name = name;
    this.#typed = typed;
  }

  /**
   * Writes down that the command will change something.
   * @param organizationId undefined when it is about no organisation: then it stands in the log of the stage
   * @throws Error when it could not be written, so that nothing must be changed
   */
  async begin(organizationId: string | undefined, before: Ending["after"]): Promise<void> {
    const { operatorIdentity } = await import("./identity.ts");
    this.#entry = await writeAuditEntry({
      organizationId,
      actor: { type: "operator", identity: await operatorIdentity(this.#stage) },
      action: this.#name,
      subject: this.#typed,
      before,
    });
  }

  /** Notes how things are after the change. */
  changed(after: NonNullable<Ending["after"]>): void {
    this.#after = after;
  }

  /** Writes down what came of it. Of a command that failed nobody knows how far it came. */
  async end(outcome: "done" | "unknown"): Promise<void> {
    if (this.#entry !== undefined) await writeAuditOutcome(this.#entry, { outcome, after: this.#after });
  }
}
