import { vi } from "vitest";

import { environmentNames } from "../../shared/platform/config.ts";
import { connectStripe } from "./connected-stripe.ts";
import { bucket } from "./memory-objects.ts";
import { useOwnTable } from "./own-table.ts";
import { setPayments } from "./stored-payments.ts";

/** Begins a rehearsal of a restore: with a table, a bucket and a provider of its own, on a stage with taxes. */
export async function openRehearsal(): Promise<void> {
  await useOwnTable();
  bucket.clear();
  await connectStripe();
  vi.stubEnv(environmentNames.documentsBucket, "documents");
  vi.stubEnv(environmentNames.stage, "prod");
  setPayments({
    cards: "stripe",
    seller: { name: "Example SMS Ltd", address: ["1 Sample Street"], country: "DE" },
    tax: { rates: { DE: 20, FR: 20 }, reverseCharge: ["FR"] },
  });
}
