import type { CarrierCallbacks } from "./kind.ts";
import { placeholdersOf, textsOf } from "./placeholders.ts";
import { hasAdjacentValues, templatePlaceholders } from "./response-template.ts";
import type { SettingsOf } from "./settings.ts";

const placeholders: ReadonlySet<string> = new Set([
  "callbackUrl",
  "encoding",
  "from",
  "reference",
  "text",
  "to",
  "validitySeconds",
]);
/** The placeholders for headers, which may have neither line breaks nor most other characters. */
const placeholdersOfHeaders: ReadonlySet<string> = new Set(["from", "reference", "to", "validitySeconds"]);

/**
 * Checks the placeholders and the rules of settings.
 * @throws Error with a message for the operator
 */
export function checkHttpSettings(settings: SettingsOf<"http">, credentials: Record<string, string>): void {
  const { url, headers, basicAuthentication = {}, body = {}, responses } = settings;
  const check = (place: string, texts: readonly string[], known: ReadonlySet<string>): void => {
    const wrong = texts
      .flatMap(placeholdersOf)
      .find(
        (name) =>
          !known.has(name) &&
          !(name.startsWith("secret.") && Object.hasOwn(credentials, name.slice("secret.".length))),
      );
    if (wrong !== undefined) throw new Error(`${place}: the placeholder {${wrong}} has no value`);
  };
  check("url", [url], placeholders);
  check("headers", Object.values(headers), placeholdersOfHeaders);
  check("basicAuthentication", Object.values(basicAuthentication), placeholdersOfHeaders);
  check("body", textsOf(body), placeholders);
  check(
    "responses",
    responses.flatMap(({ text = [] }) => text),
    templatePlaceholders,
  );
  if (responses.some(({ text = "" }) => hasAdjacentValues(text))) {
    throw new Error("responses: put a space or another sign between {code} and {reference} in text");
  }
  // Such a rule would fit each response with its status.
  if (responses.some(({ path, values }) => path === undefined && values !== undefined)) {
    throw new Error("responses: values need a path");
  }
  const names = new Set([url, ...textsOf(body)].flatMap(placeholdersOf));
  for (const needed of ["to", "text"]) {
    if (!names.has(needed)) throw new Error(`{${needed}} is missing in url and body`);
  }
  if (settings.idempotent && !names.has("reference")) {
    throw new Error("idempotent needs a {reference} in url or body");
  }
}

/** Returns why receipts or inbound messages of a carrier are lost. */
export const httpWarnings: NonNullable<CarrierCallbacks<SettingsOf<"http">>["warnings"]> = ({
  name,
  settings,
}) => {
  const { url, headers, body = {}, receipts, inbound } = settings;
  const names = new Set([url, ...Object.values(headers), ...textsOf(body)].flatMap(placeholdersOf));
  const isOfMessage =
    names.has("callbackUrl") || (names.has("reference") && receipts?.referencePath !== undefined);
  return {
    receipts:
      receipts === undefined
        ? `Receipts of ${name} are rejected, and no message gets a result: add receipts to its settings.`
        : isOfMessage
          ? undefined
          : `Receipts of ${name} belong to no message: add {callbackUrl} to its url or body.`,
    inbound:
      inbound === undefined
        ? `Replies through ${name} are rejected, and a STOP has no effect: add inbound to its settings.`
        : undefined,
  };
};
