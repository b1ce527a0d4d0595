import { defaultMaximum, defaultMinimum, PaymentSettings } from "../../api/contract/payment-settings.ts";
import { config } from "../../platform/config.ts";

/** The last text and its settings. They are parsed once, because a function has the same text for its whole life. */
let parsed: ReturnType<typeof parse> | undefined;

/** Returns how customers of this stage pay. A stage without payments has the defaults, and thus no method. */
export function paymentSettings(): ReturnType<typeof parse>["settings"] {
  const text = config.payments();
  if (parsed?.text !== text) parsed = parse(text);
  return parsed.settings;
}

function parse(text: string) {
  const {
    minimum = defaultMinimum,
    maximum = defaultMaximum,
    ...others
  } = PaymentSettings.parse(JSON.parse(text));
  return { text, settings: { ...others, minimum, maximum } };
}
