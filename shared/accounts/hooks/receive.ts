import { ApiError, errorCatalogue } from "../../api/contract/errors.ts";
import type { HookKind } from "../../api/contract/hook-kinds.ts";
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
  await countRequest(caller.actor, hookId);
  const content = { rawBody: call.rawBody, provenId: proof.repeatId };
  const refusal = await sendCode(hookId, hook, caller, content).catch((error: unknown) =>
    refusalOf(hook.kind, error),
  );
  return { headers: {}, body: JSON.stringify(refusal ?? {}) };
}

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
  await (repeatId === undefined ? send() : once(request, send));
}

/**
 * Returns the body of a response with the status 200, in which Supabase reads why a code was not sent.
 * @throws the error, for another system, or if Supabase is to call again
 */
function refusalOf(kind: HookKind, error: unknown): object {
  const status = error instanceof ApiError ? errorCatalogue[error.code].status : 500;
  // The attempt in flight sends the code. Supabase calls again only after a 429 or 503 with `Retry-After`.
  if (kind === "supabase" && error instanceof ApiError && error.code === "IDEMPOTENCY_IN_PROGRESS") {
    throw new ApiError("UNAVAILABLE", { retryAfterSeconds: 2 });
  }
  if (kind !== "supabase" || !(error instanceof ApiError) || status === 429 || status >= 500) throw error;
  const details = error.details?.map(({ path, message }) => ` ${path}: ${message}.`) ?? [];
  return { error: { http_code: status, message: error.message + details.join("") } };
}
