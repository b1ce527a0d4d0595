import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

import { everyRow } from "../../../../shared/api/client/client.ts";
import type { Contact } from "../../../../shared/api/contract/contacts.ts";
import { api } from "../api.ts";
import { estimateAudience, type Plan, type Prices } from "../audience.ts";
import { fundsLink } from "../features.ts";
import { messageOf } from "../problems.ts";
import { useLoad, Waiting } from "./load.tsx";
import { amountText, countText, Money, optionalCount } from "./money.tsx";
import { Notice } from "./notice.tsx";
import { Facts } from "./page.tsx";

/** Contacts that are read for an estimate. With more contacts, the estimate is a minimum. */
const maxContactsRead = 10_000;

async function readPrices(): Promise<Prices> {
  const prices = new Map<string, number | undefined>();
  const rows = everyRow(async (next) => api().listPrices({ query: { limit: 100, ...next } }));
  for await (const { prefix, unitPrice, blockedPrefixes = [] } of rows) {
    prices.set(prefix, unitPrice);
    for (const blocked of blockedPrefixes) prices.set(blocked, undefined);
  }
  return prices;
}

/** Reads the newest contacts, and stops when the estimate is no longer needed. */
async function readContacts(
  onProgress: (read: number, total: number) => void,
  isWanted: () => boolean,
): Promise<Pick<AudienceData, "contacts" | "isAll" | "total">> {
  const contacts: Contact[] = [];
  let total = 0;
  let cursor: string | undefined;
  do {
    const { rows, meta } = await api().listContacts({ query: { limit: 100, cursor } });
    contacts.push(...rows);
    total = meta.total;
    cursor = meta.nextCursor;
    onProgress(contacts.length, total);
  } while (cursor !== undefined && contacts.length < maxContactsRead && isWanted());
  return { contacts, total, isAll: cursor === undefined };
}

/** The data for estimates, read once per view. */
interface AudienceData {
  readonly contacts: readonly Contact[];
  /** Whether all contacts were read. */
  readonly isAll: boolean;
  readonly total: number;
  readonly prices: Prices;
}

/** Reads the contacts and prices, and reports progress. */
export function useAudienceData(): { data: AudienceData | undefined; error: unknown; progress: string } {
  const progress = useSignal("Loading contacts…");
  const isWanted = useMemo(() => ({ value: true }), []);
  useEffect(
    () => () => {
      isWanted.value = false;
    },
    [],
  );
  const { data, error } = useLoad(async () => {
    const report = (read: number, total: number): void => {
      progress.value = `${countText(read)} of ${countText(total, "contact")} loaded…`;
    };
    const [contacts, prices] = await Promise.all([readContacts(report, () => isWanted.value), readPrices()]);
    return { ...contacts, prices };
  }, []);
  return { data, error, progress: progress.value };
}

/** The estimated messages and cost of a campaign, and the contacts that are skipped. */
export function AudienceCost({
  plan,
  source: { data, error, progress },
}: {
  plan: Plan;
  source: ReturnType<typeof useAudienceData>;
}) {
  const wallet = useLoad(async () => api().getWallet(), []);
  if (error !== undefined) return <Notice tone="bad">{messageOf(error)}</Notice>;
  if (data === undefined) return <Waiting what={progress} />;
  const { messages, segments, cost, optedOut, unrenderable, notPriced } = estimateAudience(
    plan,
    data.contacts,
    data.prices,
  );
  const balance = wallet.data?.balance;
  return (
    <div aria-live="polite">
      <p class="figure">
        {data.isAll ? "" : "At least "}
        {countText(messages, "message")}, <Money amount={cost} />
      </p>
      <Facts
        of={{
          Segments: countText(segments),
          "Opted out": optionalCount(optedOut, " skipped"),
          "Invalid text": optionalCount(unrenderable, " skipped: missing value or text too long"),
          "No price": optionalCount(notPriced, " skipped: no price, or a blocked destination"),
        }}
      />
      {data.isAll ? null : (
        <p>
          This estimate covers the newest {countText(data.contacts.length)} of{" "}
          {countText(data.total, "contact")}. The others cost extra.
        </p>
      )}
      {messages === 0 && data.isAll ? (
        <Notice tone="info">
          No contacts would receive this campaign.{" "}
          {unrenderable > 0 ? (
            "Correct the message: it has a field without a value, or it is too long."
          ) : (
            <>
              <a href="#/contacts/import">Import contacts</a> or change the audience.
            </>
          )}
        </Notice>
      ) : null}
      {balance !== undefined && balance < cost ? (
        <Notice tone="bad">
          Your balance of {amountText(balance)} does not cover this campaign. The campaign stops when the
          balance runs out. You can resume it after you <a href={fundsLink[0]}>add funds</a>.
        </Notice>
      ) : null}
    </div>
  );
}
