import { setTimeout as delay } from "node:timers/promises";

import { ApiError, errorCatalogue } from "../../api/contract/errors.ts";
import type { HookKind } from "../../api/contract/hook-kinds.ts";
import { secondMs } from "../../platform/clock.ts";
import type { Attempt } from "../../platform/http/event.ts";
import { once } from "../../platform/http/idempotency.ts";
import type { RawResponse } from "../../platform/http/pipeline.ts";
import { countRequest } from "../../platform/http/request-rate.ts";
import type { HookOfCredential } from "../../tenancy/api-keys/record.ts";
import { startVerification } from "../../verifications/start.ts";
import { callerOfRecord, readApiKey } from "../callers/api-key-caller.ts";
import { accepted, rejectionOf, type Caller } from "../callers/authenticate.ts";
import { type HookCall, proofOf } from "./proof.ts";
import { readHookBody } from "./readers.ts";

/**
 * Sends the code of a login system that calls a hook. A call without the proof of the system is rejected like a call to a
 * hook that does not exist, before anything else.
 * @throws ApiError UNAUTHORIZED or RATE_LIMITED for such a call; ADDRESS_NOT_ALLOWED; VALIDATION_ERROR,
 *   ORGANIZATION_SUSPENDED, and the errors of `startVerification`
 */
export async function receiveHookCall(
  hookId: string,
  call: HookCall & { readonly sourceIp: string },
): Promise<RawResponse> {
  const { sourceIp } = call;
  const read = await readApiKey(hookId, true);
  const { hook } = read.record ?? {};
  const proof = read.record && hook && (await proofOf(read.record, hook, call));
  if (read.record === undefined || hook === undefined || proof === undefined) {
    throw await rejectionOf("unknown", sourceIp);
  }
  const caller = await accepted(await callerOfRecord(read.record, sourceIp, read), sourceIp);
  const content = { rawBody: call.rawBody, provenId: proof.repeatId };
  const refusal = await countRequest(caller.actor, hookId)
    .then(async () => sendCode(hookId, hook, caller, content))
    .catch((error: unknown) => refusalOf(hook.kind, error));
  return { headers: {}, body: JSON.stringify(refusal ?? {}) };
}

/** How long a call waits for an earlier attempt in flight. Supabase would repeat it immediately, and give up after three calls. */
const maxWaitMs = 3 * secondMs;
const pauseMs = secondMs / 4;

/** Starts the verification of a call. A call that has a name or a signature, and comes again, sends nothing again. */
async function sendCode(
  hookId: string,
  { kind, profile = "default" }: HookOfCredential,
  { actor, organization }: Caller,
  { rawBody, provenId }: { readonly rawBody: string; readonly provenId: string | undefined },
): Promise<void> {
  if (organization.suspendedAt !== undefined) throw new ApiError("ORGANIZATION_SUSPENDED");
  const read = readHookBody(kind, rawBody);
  const { repeatId = provenId, ...content } = read;
  const start = { ...content, profile, channel: "sms", metadata: { hook: hookId } } as const;
  const send = async (attempt?: Attempt): Promise<unknown> =>
    startVerification(organization, start, { actor, attempt });
  // No Idempotency-Key of a request has a space in it. A hash of the code could be inverted.
  const key = `${hookId} ${repeatId}`;
  const request = { organizationId: organization.id, key, content: { ...content, code: undefined } };
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    try {
      await (repeatId === undefined ? send() : once(request, send));
      return;
    } catch (error) {
      if (!isInProgress(error) || waitedMs >= maxWaitMs) throw error;
      await delay(pauseMs);
    }
  }
}

function isInProgress(error: unknown): boolean {
  return error instanceof ApiError && error.code === "IDEMPOTENCY_IN_PROGRESS";
}

/**
 * Returns the body of a response with the status 200, in which Supabase reads why a code was not sent. It repeats a 429
 * immediately, and then reports a failure of the hook.
 * @throws the error, for another system, or if Supabase is to call again
 */
function refusalOf(kind: HookKind, error: unknown): object {
  if (kind !== "supabase" || !(error instanceof ApiError)) throw error;
  // The attempt in flight sends the code.
  if (isInProgress(error)) throw new ApiError("UNAVAILABLE", { retryAfterSeconds: 2 });
  const { status } = errorCatalogue[error.code];
  if (status >= 500) throw error;
  const details = error.details?.map(({ path, message }) => ` ${path}: ${message}.`) ?? [];
  const { retryAfterSeconds } = error.facts;
  const wait = retryAfterSeconds === undefined ? "" : ` Try again in ${retryAfterSeconds} seconds.`;
  return { error: { http_code: status, message: error.message + details.join("") + wait } };
}
