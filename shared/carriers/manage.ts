import { createHash, randomBytes } from "node:crypto";

import { deleteSecret, writeSecret } from "../platform/aws/write-secret.ts";
import { dayMs, now } from "../platform/clock.ts";
import { RejectedError } from "../platform/rejected-error.ts";
import { keys } from "../platform/table/keys.ts";
import { deleteItem, putItem, updateItem, updateOf, putOf } from "../platform/table/write.ts";
import { callbacksOfKinds } from "./callbacks-of-kinds.ts";
import { callsOfKinds } from "./calls-of-kinds.ts";
import { readSecret, type CarrierSecret } from "./credentials.ts";
import { placeholdersOf } from "./placeholders.ts";
import { CarrierRecord, findCarrier, readCarriers, routeText } from "./record.ts";
import type { CarrierSettings } from "./settings.ts";

/*
 * Changes of carriers by operators. The errors have messages for the operator.
 */

/** The names of a stage's carrier secrets, and the address for carrier callbacks. */
export interface CarrierPlaces {
  /** The prefix of the names of secrets with credentials; `callbackPrefix` is that of secrets that verify callbacks. */
  readonly secretPrefix: string;
  readonly callbackPrefix: string;
  readonly callbackBaseUrl: string;
}

export interface NewCarrier {
  readonly name: string;
  readonly settings: CarrierSettings;
  /** Undefined leaves the credentials as they are. */
  readonly credentials?: unknown;
  /** `none` removes the limit; undefined leaves it as it is. */
  readonly segmentsPerSecond?: number | "none" | undefined;
  /** Whether to generate a new token for the carrier's callbacks. */
  readonly newCallbackToken?: boolean;
}

/** Checks a new or changed carrier, and changes nothing. @throws Error with a message for the operator */
export async function checkCarrier({ name, settings, credentials }: NewCarrier): Promise<void> {
  const { kind } = settings;
  const namesKind = Object.keys(callsOfKinds).includes(name);
  if (namesKind && name !== kind) throw new Error(`Only a carrier of the kind ${name} may have that name.`);
  const present = await findCarrier(name);
  if (present !== undefined && present.settings.kind !== kind) {
    throw new Error(
      `${name} is of the kind ${present.settings.kind}: delete it first, or choose another name.`,
    );
  }
  checkNothingSecret(settings);
  const known = await credentialsFor({ name, settings, credentials }, present);
  callsOfKinds[kind].check?.(settings, known);
}

/** Returns the credentials that the carrier will have: the given ones, or else those in its secret. */
async function credentialsFor(
  { name, settings: { kind }, credentials }: NewCarrier,
  present: CarrierRecord | undefined,
): Promise<Record<string, string>> {
  const isMissing = credentials === undefined && present?.secretId === undefined;
  const given = credentials ?? (isMissing ? {} : (await readSecret(present ?? {})).credentials);
  const checked = callsOfKinds[kind].credentials.safeParse(given);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  // Zod's own messages quote no values. They must not, because the values are secrets.
  const what = `${issue?.path.join(".") || "they"}: ${issue?.message}`;
  throw new Error(isMissing ? `${name} needs credentials.` : `The credentials are not valid: ${what}`);
}

/** The names of fields whose values are secret, unless they are placeholders. */
const secretName = /(api[-_]?key|authori[sz]ation|cookie|passw(or)?d|secret|token)$/i;

/**
 * Checks that settings have no secrets, because operators and the audit log see them.
 * @throws Error with a message for the operator
 */
function checkNothingSecret(settings: CarrierSettings): void {
  const check = (place: string, name: string, value: unknown): void => {
    if (!secretName.test(name) || typeof value !== "string" || placeholdersOf(value).length > 0) return;
    throw new Error(`${place}.${name}: move the secret to the credentials, and write {secret.NAME} here`);
  };
  if (!("url" in settings)) return;
  if (/^[^/]*\/\/[^/?#]*@/.test(settings.url)) {
    throw new Error("url: must not have a user name or a password: move them to the credentials");
  }
  const [, query = ""] = settings.url.split("?");
  for (const [name, value] of new URLSearchParams(query)) check("url", name, value);
  for (const [place, fields] of Object.entries(settings))
    for (const [name, value] of Object.entries(Object(fields))) check(place, name, value);
}

/**
 * Adds or changes a carrier. It writes the secret first, in a version that is in use once the record names it.
 * @throws Error with a message for the operator when a check fails, before any change, or when someone else changes the
 *   carrier at the same time
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
  const written = await putItem(
    putOf(
      keys.carrier(name),
      record,
      present === undefined ? { absent: ["pk"] } : { is: { updatedAt: present.updatedAt } },
    ),
  );
  if (!written.applied) throw new RejectedError(`Someone else changed ${name} at the same time: try again.`);
  return record;
}

/** How long the token before a rotation counts: receipts of earlier messages have it in their address. */
const previousTokenMs = 7 * dayMs;

async function keptSecret(
  wanted: NewCarrier,
  present: CarrierRecord | undefined,
  { secretPrefix, callbackPrefix, callbackBaseUrl }: CarrierPlaces,
): Promise<Partial<CarrierRecord>> {
  const { name, settings, credentials, newCallbackToken = false } = wanted;
  const callbacks = callbacksOfKinds[settings.kind];
  const signsCalls = callbacks.isSigned !== undefined;
  // Such a kind has neither credentials nor callbacks.
  if (callbacks.receiptsPerSegment === 0) return {};
  if (present?.secretId !== undefined && credentials === undefined && !newCallbackToken)
    return { callbackBaseUrl };
  const kept = present?.secretId === undefined ? undefined : await readSecret(present);
  const callbackToken =
    newCallbackToken || kept?.callbackToken === undefined
      ? randomBytes(32).toString("base64url")
      : kept.callbackToken;
  const secret: CarrierSecret = { credentials: await credentialsFor(wanted, present), callbackToken };
  const secretId = `${secretPrefix}${name}`;
  const secretVersion = await writeSecret(secretId, secret, "a carrier");
  const { authToken } = secret.credentials;
  const callbackSecretId = `${callbackPrefix}${name}`;
  // The carrier signs its calls with this token. The function that verifies them has no access to the credentials.
  if (signsCalls) await writeSecret(callbackSecretId, { authToken }, "a carrier");
  return {
    secretId,
    secretVersion,
    callbackBaseUrl,
    callbackTokenHash: createHash("sha256").update(callbackToken).digest("hex"),
    ...(newCallbackToken && present?.callbackTokenHash !== undefined
      ? {
          previousTokenHash: present.callbackTokenHash,
          previousTokenUntil: new Date(now().getTime() + previousTokenMs).toISOString(),
        }
      : {}),
    ...(signsCalls ? { callbackSecretId } : {}),
  };
}

/** Enables or disables a carrier. @returns undefined when there is no carrier of that name */
export async function enableCarrier(name: string, isEnabled: boolean): Promise<CarrierRecord | undefined> {
  const at = now().toISOString();
  const changes = isEnabled
    ? ({ set: { updatedAt: at }, remove: ["disabledAt"] } as const)
    : { set: { updatedAt: at }, setIfAbsent: { disabledAt: at } };
  const changed = await updateItem(
    CarrierRecord,
    updateOf(keys.carrier(name), changes, { present: ["entity"] }),
  );
  return changed.applied ? changed.item : undefined;
}

/**
 * Reads a carrier that no route uses.
 * @throws Error with a message for the operator when a route uses it, or there is no carrier of that name
 */
export async function readUnusedCarrier(name: string): Promise<CarrierRecord> {
  const { carriers, routes } = await readCarriers();
  const carrier = carriers.get(name);
  if (carrier === undefined) throw new RejectedError(`There is no carrier ${name}.`);
  const used = routes.find((route) => route.carriers.includes(name));
  if (used !== undefined)
    throw new RejectedError(`The route ${routeText(used)} uses ${name}: change the route first.`);
  return carrier;
}

/**
 * Deletes a carrier that no route uses, and its secrets. The carrier itself is deleted last, so that an interrupted
 * deletion can be repeated.
 * @throws Error with a message for the operator when a route uses it, or there is no carrier of that name
 */
export async function deleteCarrier(name: string): Promise<void> {
  const { secretId, callbackSecretId } = await readUnusedCarrier(name);
  for (const id of [secretId, callbackSecretId]) if (id !== undefined) await deleteSecret(id);
  await deleteItem(keys.breaker(name));
  await deleteItem(keys.pace(name));
  await deleteItem(keys.carrier(name));
}
