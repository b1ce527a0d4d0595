import { PaymentSettings } from "../../api/contract/payment-settings.ts";
import { config } from "../../platform/config.ts";

/** The last text and its settings. They are parsed once, because a function has the same text for its whole life. */
let parsed: { readonly text: string; readonly settings: PaymentSettings } | undefined;

/** Returns how customers of this stage pay. A stage without payments has the defaults, and thus no method. */
export function paymentSettings(): PaymentSettings {
  const text = config.payments();
  if (parsed?.text !== text) parsed = { text, settings: PaymentSettings.parse(JSON.parse(text)) };
  return parsed.settings;
}
