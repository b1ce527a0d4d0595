import { isTestId } from "../../platform/ids.ts";

/**
 * The effects of a message besides its submission. Test messages have other effects than live ones, and the same life.
 */
interface Effects {
  /** Whether its price was debited. It returns when the message is not sent. */
  readonly isPaid: boolean;
  /** Whether it keeps its expiry. Otherwise its first job ends it, and the retention of the stage sets a new one. */
  readonly keepsExpiry: boolean;
  /** Whether dashboards, usage, campaigns and the alarms of carriers count it. */
  readonly isCounted: boolean;
  /** Whether the sandbox is its only carrier. */
  readonly usesSandbox: boolean;
  /** Whether the rules for live messages apply: paused sending, approved sender IDs, and STOP in replies. */
  readonly hasLiveRules: boolean;
}

const live: Effects = {
  isPaid: true,
  keepsExpiry: false,
  isCounted: true,
  usesSandbox: false,
  hasLiveRules: true,
};
const test: Effects = {
  isPaid: false,
  keepsExpiry: true,
  isCounted: false,
  usesSandbox: true,
  hasLiveRules: false,
};

/** Returns the effects of a message, or of an inbound message. */
export function effectsOf({ id }: { readonly id: string }): Effects {
  return isTestId(id) ? test : live;
}
