import { createHash, randomBytes } from "node:crypto";

import { now } from "../platform/clock.ts";
import { Refusal } from "../platform/refusal.ts";
import { keys } from "../platform/table/keys.ts";
import { deleteItem, putItem, updateItem } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { credentialsOfKind, readSecret, type CarrierSecret } from "./credentials.ts";
import { placeholdersOf, textsOf } from "./placeholders.ts";
import { CarrierRecord, findCarrier, readCarriers, type RoutingTable, type RouteRecord } from "./record.ts";
import { deleteSecret, keepSecret } from "./secrets.ts";
import type { CarrierSettings, SettingsOf } from "./settings.ts";

/*
 * What operators do with carriers and routes. Errors say in words what is wrong, for those who typed it.
 */

/** Where a stage keeps what its carriers know it by, and where they call it back. */
export interface CarrierPlaces {
  /** What the names of secrets begin with: of those of carriers, and of what their calls back are verified with. */
  readonly secretPrefix: string;
  readonly callbackPrefix: string;
  readonly callbackBaseUrl: string;
}

export interface NewCarrier {
  readonly name: string;
  readonly settings: CarrierSettings;
  /** Undefined leaves them as they are. */
  readonly credentials?: unknown;
  /** `none` takes the limit away, undefined leaves it as it is. */
  readonly segmentsPerSecond?: number | "none" | undefined;
  /** Whether the token of the carrier's calls back is made again. */
  readonly newCallbackToken?: boolean;
}

/** Checks what an operator wants of a carrier, before anything is changed. @throws Error in words for them */
export async function checkCarrier({ name, settings, credentials }: NewCarrier): Promise<void> {
  const { kind } = settings;
  const namesKind = Object.keys(credentialsOfKind).includes(name);
  if (namesKind && name !== kind) throw new Error(`Only a carrier of the kind ${name} may have that name.`);
  const present = await findCarrier(name);
  if (present !== undefined && present.settings.kind !== kind) {
    throw new Error(
      `${name} is of the kind ${present.settings.kind}: delete it first, or choose another name.`,
    );
  }
  checkNothingSecret(settings);
  const known = await credentialsFor({ name, settings, credentials }, present);
  if (settings.kind === "http") checkPlaceholders(settings, known);
}

/** What a carrier of a kind will be known by: what is given now, or what is kept. */
async function credentialsFor(
  { name, settings: { kind }, credentials }: NewCarrier,
  present: CarrierRecord | undefined,
): Promise<Record<string, string>> {
  const isMissing = credentials === undefined && present?.secretId === undefined;
  const given = credentials ?? (isMissing ? {} : (await readSecret(present ?? {})).credentials);
  const checked = credentialsOfKind[kind].safeParse(given);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  // Zod's own words quote no values, and must not: they are secrets.
  const what = `${issue?.path.join(".") || "they"}: ${issue?.message}`;
  throw new Error(isMissing ? `${name} needs credentials.` : `The credentials are not right: ${what}`);
}

const placeholders: ReadonlySet<string> = new Set([
  "callbackUrl",
  "encoding",
  "from",
  "reference",
  "text",
  "to",
  "validitySeconds",
]);
/** What may stand in a header, which takes no line breaks and not all characters. */
const placeholdersOfHeaders: ReadonlySet<string> = new Set(["from", "reference", "to", "validitySeconds"]);

function checkPlaceholders(settings: SettingsOf<"http">, credentials: Record<string, string>): void {
  const { url, headers, basicAuthentication = {}, body = {} } = settings;
  const check = (place: string, texts: readonly string[], known: ReadonlySet<string>): void => {
    const wrong = texts
      .flatMap(placeholdersOf)
      .find(
        (name) =>
          !known.has(name) &&
          !(name.startsWith("secret.") && Object.hasOwn(credentials, name.slice("secret.".length))),
      );
    if (wrong !== undefined) throw new Error(`${place}: nothing is known that {${wrong}} could stand for`);
  };
  check("url", [url], placeholders);
  check("headers", Object.values(headers), placeholdersOfHeaders);
  check("basicAuthentication", Object.values(basicAuthentication), placeholdersOfHeaders);
  check("body", textsOf(body), placeholders);
  const names = new Set([url, ...textsOf(body)].flatMap(placeholdersOf));
  for (const needed of ["to", "text"]) {
    if (!names.has(needed)) throw new Error(`{${needed}} stands neither in url nor in body`);
  }
  if (settings.recognisesRepeats && !names.has("reference")) {
    throw new Error("recognisesRepeats takes a {reference} in url or body");
  }
}

/** What has such a name is secret, unless it is filled in. */
const secretName = /(api[-_]?key|authori[sz]ation|cookie|passw(or)?d|secret|token)$/i;

/** Settings are shown, and stand in the audit log. @throws Error in words when they hold what belongs into the credentials */
function checkNothingSecret(settings: CarrierSettings): void {
  const check = (place: string, name: string, value: unknown): void => {
    if (!secretName.test(name) || typeof value !== "string" || placeholdersOf(value).length > 0) return;
    throw new Error(
      `${place}.${name}: what is secret belongs into the credentials, and is {secret.NAME} here`,
    );
  };
  if (!("url" in settings)) return;
  const [, query = ""] = settings.url.split("?");
  for (const [name, value] of new URLSearchParams(query)) check("url", name, value);
  if (settings.kind !== "http") return;
  const { headers, basicAuthentication, body = {} } = settings;
  for (const [name, value] of Object.entries(headers)) check("headers", name, value);
  check("basicAuthentication", "password", basicAuthentication?.password);
  for (const [name, value] of Object.entries(body)) check("body", name, value);
}

/**
 * Makes a carrier, or changes it. Its secret is written first, in a version that counts once the record names it.
 * @throws Error in words when something is not right, before anything is changed, or when others change it too
 */
export async function setCarrier(
  wanted: NewCarrier,
  { secretPrefix, callbackPrefix, callbackBaseUrl }: CarrierPlaces,
): Promise<CarrierRecord> {
  await checkCarrier(wanted);
  const { name, settings } = wanted;
  const present = await findCarrier(name);
  const at = now().toISOString();
  const { segmentsPerSecond = present?.segmentsPerSecond } = wanted;
  const record: CarrierRecord = {
    ...present,
    entity: "carrier",
    name,
    settings,
    createdAt: present?.createdAt ?? at,
    updatedAt: at,
    segmentsPerSecond: segmentsPerSecond === "none" ? undefined : segmentsPerSecond,
    ...(await keptSecret(wanted, present, { secretPrefix, callbackPrefix, callbackBaseUrl })),
  };
  const put = { ...keys.carrier(name), ...record };
  const written = await putItem(
    present === undefined
      ? { put, condition: "attribute_not_exists(pk)" }
      : { put, condition: "updatedAt = :seen", values: { ":seen": present.updatedAt } },
  );
  if (!written.applied) throw new Refusal(`${name} was changed by someone else meanwhile: try again.`);
  return record;
}

async function keptSecret(
  wanted: NewCarrier,
  present: CarrierRecord | undefined,
  { secretPrefix, callbackPrefix, callbackBaseUrl }: CarrierPlaces,
): Promise<Partial<CarrierRecord>> {
  const { name, settings, credentials, newCallbackToken = false } = wanted;
  // Of the others no one calls back, and nothing is known to them.
  if (settings.kind === "sandbox" || settings.kind === "aws") return {};
  if (present?.secretId !== undefined && credentials === undefined && !newCallbackToken)
    return { callbackBaseUrl };
  const kept = present?.secretId === undefined ? undefined : await readSecret(present);
  const callbackToken =
    newCallbackToken || kept?.callbackToken === undefined
      ? randomBytes(32).toString("base64url")
      : kept.callbackToken;
  const secret: CarrierSecret = { credentials: await credentialsFor(wanted, present), callbackToken };
  const secretId = `${secretPrefix}${name}`;
  const secretVersion = await keepSecret(secretId, secret);
  const { authToken } = secret.credentials;
  const callbackSecretId = `${callbackPrefix}${name}`;
  // Who calls back in the name of Twilio signs with it, and whoever verifies that may not send in ours.
  if (settings.kind === "twilio") await keepSecret(callbackSecretId, { authToken });
  return {
    secretId,
    secretVersion,
    callbackBaseUrl,
    callbackTokenHash: createHash("sha256").update(callbackToken).digest("hex"),
    ...(settings.kind === "twilio" ? { callbackSecretId } : {}),
  };
}

/** Lets messages be handed to a carrier, or not. @returns undefined when there is none of that name */
export async function enableCarrier(name: string, isEnabled: boolean): Promise<CarrierRecord | undefined> {
  const at = now().toISOString();
  const changes = isEnabled
    ? { set: { updatedAt: at }, remove: ["disabledAt"] }
    : { set: { updatedAt: at }, setIfAbsent: { disabledAt: at } };
  const changed = await updateItem(
    CarrierRecord,
    updateOf(keys.carrier(name), changes, { present: ["entity"] }),
  );
  return changed.applied ? changed.item : undefined;
}

/** A carrier that no route leads to. @throws Error in words when one does, or there is none of that name */
export async function readUnusedCarrier(name: string): Promise<CarrierRecord> {
  const { carriers, routes } = await readCarriers();
  const carrier = carriers.get(name);
  if (carrier === undefined) throw new Refusal(`There is no carrier ${name}.`);
  const used = routes.find((route) => route.carriers.includes(name));
  if (used !== undefined)
    throw new Refusal(`The route ${routeText(used)} leads to ${name}: change it first.`);
  return carrier;
}

/**
 * Deletes a carrier that no route leads to, with what it knows us by. The carrier itself goes last, so that what was
 * interrupted can be done again.
 * @throws Error in words when a route leads to it, or there is none of that name
 */
export async function deleteCarrier(name: string): Promise<void> {
  const { secretId, callbackSecretId } = await readUnusedCarrier(name);
  for (const id of [secretId, callbackSecretId]) if (id !== undefined) await deleteSecret(id);
  await deleteItem(keys.breaker(name));
  await deleteItem(keys.pace(name));
  await deleteItem(keys.carrier(name));
}

/** What a route is for, in words. */
export function routeText({ prefix, messageType }: Pick<RouteRecord, "messageType" | "prefix">): string {
  return `${prefix === "" ? "default" : prefix}${messageType === undefined ? "" : ` (${messageType})`}`;
}

/** Checks that the carriers of a route are there. @throws Error in words when one is not */
export function checkRoute(
  { carriers: names }: Pick<RouteRecord, "carriers">,
  { carriers }: RoutingTable,
): void {
  const unknown = names.find((name) => !carriers.has(name));
  if (unknown !== undefined) throw new Refusal(`There is no carrier ${unknown}: make it with carriers set.`);
}

/**
 * Lets messages to a prefix go to carriers, in their order.
 * @throws Error in words when one of the carriers is not there
 */
export async function setRoute(
  route: Pick<RouteRecord, "carriers" | "messageType" | "prefix">,
): Promise<RouteRecord> {
  checkRoute(route, await readCarriers());
  const record = routeRecord(route);
  await putItem({ put: { ...routeKey(record), ...record } });
  return record;
}

/** A route as it is kept from now on. */
export function routeRecord(route: Pick<RouteRecord, "carriers" | "messageType" | "prefix">): RouteRecord {
  return { ...route, entity: "route", updatedAt: now().toISOString() };
}

/** Takes a route away. */
export async function deleteRoute(route: Pick<RouteRecord, "messageType" | "prefix">): Promise<void> {
  await deleteItem(routeKey(route));
}

function routeKey({
  prefix,
  messageType,
}: Pick<RouteRecord, "messageType" | "prefix">): ReturnType<typeof keys.route> {
  return keys.route(prefix, messageType ?? "any");
}
