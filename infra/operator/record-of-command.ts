import {
  writeAuditEntry,
  writeAuditOutcome,
  type AuditEntryRecord,
  type Ending,
} from "../../shared/platform/audit-log.ts";
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

  /** Writes down what came of it. Of a command that failed nobody knows how far it came. */
  async end(outcome: "done" | "unknown"): Promise<void> {
    if (this.#entry !== undefined) await writeAuditOutcome(this.#entry, { outcome, after: this.#after });
  }
}
