import type { AuditEntry } from "../../../../shared/api/contract/audit-log.ts";
import { api } from "../api.ts";
import { JsonDetails } from "../parts/copy.tsx";
import { filtersIn } from "../parts/filter-form.tsx";
import { ListView } from "../parts/list-view.tsx";
import { usePages } from "../parts/load.tsx";
import { useNames } from "../parts/names.ts";
import { Status } from "../parts/status.tsx";
import { isoOf, Time } from "../parts/time.tsx";
import type { ViewProps } from "../router.ts";
import { session } from "../session.ts";

export function AuditLog({ query }: ViewProps) {
  const filters = filtersIn(query, {
    from: { label: "From", type: "datetime-local" },
    to: { label: "To", type: "datetime-local" },
  });
  const { from, to } = filters.values;
  const entries = usePages(
    async (page) => api().listAuditLog({ query: { ...page, from: isoOf(from), to: isoOf(to) } }),
    [from, to],
  );
  const nameOf = useNames();
  // Entries about a deleted key still have its name.
  const facts = entries.data?.rows.flatMap(({ before, after }) => [before, after]);
  const nameInLog = (id: string): string => {
    const name = facts?.find((each) => each?.["id"] === id && each["name"] !== undefined)?.["name"];
    return typeof name === "string" ? name : id;
  };
  return (
    <ListView
      title="Audit log"
      lead="Actions by people and API keys in your organization. Entries cannot be edited or deleted."
      filters={filters}
      caption="Audit log entries, newest first"
      pages={entries}
      columns={{
        Time: ({ createdAt }) => <Time at={createdAt} />,
        Actor: (entry) => <span class="break">{actorText(entry, (id) => nameOf(id) ?? nameInLog(id))}</span>,
        Action: ({ action }) => <Action of={action} />,
        Outcome: ({ outcome, errorCode }) => (
          <>
            <Status of={outcome} /> {errorCode === undefined ? null : <code>{errorCode}</code>}
          </>
        ),
        "IP address": ({ sourceAddress }) => sourceAddress,
        Details: ({ id, subject, before, after, requestId }) => (
          <JsonDetails value={{ subject, before, after, requestId }} label={`Details of ${id}`} />
        ),
      }}
      empty={{
        title: "No entries",
        hint: "There are no entries in this period.",
        action: <a href="#/audit-log">Show all entries</a>,
      }}
    />
  );
}

/** An action such as `POST /v1/sms/send`, which wraps before its slashes. */
function Action({ of }: { of: string }) {
  return (
    <code>
      {of.split(/(?=\/)/).map((part) => (
        <>
          <wbr />
          {part}
        </>
      ))}
    </code>
  );
}

function actorText({ actor }: AuditEntry, nameOf: (id: string) => string): string {
  if (actor.type === "operator") return "Operator";
  const isYou = actor.userId === session.value?.user.id;
  if (actor.type === "user") return isYou ? "You" : nameOf(actor.userId);
  return `API key ${nameOf(actor.keyId)}`;
}
