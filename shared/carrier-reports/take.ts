import { createHash, timingSafeEqual } from "node:crypto";

import { cachedCarriers, type CarrierRecord } from "../carriers/record.ts";
import type { Report } from "../contract/carriers.ts";
import { ApiError } from "../contract/errors.ts";
import { now } from "../platform/clock.ts";
import type { RawResponse } from "../platform/http/pipeline.ts";
import { newId } from "../platform/ids.ts";
import { enqueueAll } from "../platform/jobs/queue.ts";
import { readAuthToken } from "./auth-token.ts";
import { httpReports } from "./http.ts";
import { kannelReports } from "./kannel.ts";
import { messageOf } from "./reference.ts";
import { reportJob, type ReportJob } from "./report-job.ts";
import type { Fields, ReportReader } from "./report.ts";
import { isSignedByTwilio, twilioReports } from "./twilio.ts";

/** A call from a caller that claims to be a carrier. */
export interface CarrierCall {
  readonly params: { readonly carrier: string; readonly report: Report };
  readonly query: { readonly token?: string | undefined; readonly reference?: string | undefined };
  /**
   * The receipts or inbound messages of the call, in the carrier's own fields. A carrier may send several in one call.
   */
  readonly reports: readonly Fields[];
  readonly method: string;
  readonly path: string;
  readonly queryString: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** A response that no carrier reads as a message to the phone. */
const nothing: RawResponse = {
  headers: { "Content-Type": "text/xml; charset=utf-8" },
  body: '<?xml version="1.0" encoding="UTF-8"?><Response/>',
};

/**
 * Returns a function that accepts a carrier callback: it authenticates the carrier, reads the call, and queues its
 * content. It reads the carriers from a cache of half a minute, so that a call makes one write, to the queue.
 *
 * The function throws ApiError NOT_FOUND for a caller that is not a carrier, and VALIDATION_ERROR where nothing can be
 * read. Neither the errors nor the log have details. Unreadable parts of a call with several are skipped, because the
 * carrier would repeat the whole call forever.
 */
export function reportTaker(): (call: CarrierCall) => Promise<RawResponse> {
  const carriers = cachedCarriers();
  return async (call) => {
    const carrier = (await carriers()).carriers.get(call.params.carrier);
    if (!hasToken(carrier, call.query.token) || !(await isSigned(carrier, call))) {
      throw new ApiError("NOT_FOUND");
    }
    const reader = readerOf(carrier);
    const read = call.params.report === "receipts" ? readReceipt : readReply;
    const understood = call.reports.flatMap((fields) => read(carrier, reader, { call, fields }) ?? []);
    if (understood.length === 0) throw notUnderstood();
    await enqueueAll(understood.flatMap((report) => (report === "not the end" ? [] : reportJob(report))));
    return nothing;
  };
}

/** Whether a call has the token of its carrier. For an unknown carrier the check takes the same time. */
function hasToken(carrier: CarrierRecord | undefined, token = ""): carrier is CarrierRecord {
  const given = createHash("sha256").update(token).digest();
  const expected = Buffer.from(carrier?.callbackTokenHash ?? "", "hex");
  const isKnown = expected.byteLength === given.byteLength;
  return timingSafeEqual(given, isKnown ? expected : Buffer.alloc(given.byteLength)) && isKnown;
}

/** Whether a call is signed, where the carrier signs its calls. */
async function isSigned(carrier: CarrierRecord, call: CarrierCall): Promise<boolean> {
  if (carrier.settings.kind !== "twilio") return true;
  const { callbackBaseUrl, callbackSecretId } = carrier;
  const [fields, ...others] = call.reports;
  // A signature covers the fields of a single receipt or message.
  if (fields === undefined || others.length > 0) return false;
  if (call.method !== "POST" || callbackBaseUrl === undefined || callbackSecretId === undefined) return false;
  const { "x-twilio-signature": signature = "" } = call.headers;
  const url = `${callbackBaseUrl}${call.path}?${call.queryString}`;
  return isSignedByTwilio({ url, fields, signature }, await readAuthToken(callbackSecretId));
}

/** Returns the reader for a carrier's callbacks. Some kinds make none. */
function readerOf({ settings }: CarrierRecord): ReportReader {
  switch (settings.kind) {
    case "kannel":
      return kannelReports;
    case "twilio":
      return twilioReports;
    case "http":
      return httpReports(settings);
    case "aws":
    case "sandbox":
      return { receipt: () => undefined, reply: () => undefined };
  }
}

/** One receipt or inbound message, and its call. */
interface ReportOfCall {
  readonly call: CarrierCall;
  readonly fields: Fields;
}

/** `not the end` is a receipt with an intermediate status, which changes nothing visible. */
type Understood = ReportJob | "not the end";

function readReceipt(
  carrier: CarrierRecord,
  { receipt: read }: ReportReader,
  { call, fields }: ReportOfCall,
): Understood | undefined {
  const receipt = read(fields);
  // The reference in the address identifies one message. In a call with several receipts each has its own reference.
  const ofCall = call.reports.length === 1 ? call.query.reference : undefined;
  const message = messageOf(receipt?.reference ?? ofCall);
  if (receipt === undefined || message === undefined) return undefined;
  const { status, errorCode, providerCode } = receipt;
  if (status === "pending") return "not the end";
  const at = now().toISOString();
  return { kind: "receipt", carrier: carrier.name, ...message, status, errorCode, providerCode, at };
}

function readReply(
  carrier: CarrierRecord,
  { reply: read }: ReportReader,
  { fields }: ReportOfCall,
): Understood | undefined {
  const reply = read(fields);
  if (reply === undefined) return undefined;
  const reportId = newId("inb");
  // Without ids from the carrier each inbound message counts as new.
  const { carrierId = reportId } = reply;
  const receivedAt = now().toISOString();
  return { kind: "reply", ...reply, reportId, carrierId, carrier: carrier.name, receivedAt };
}

function notUnderstood(): ApiError {
  return new ApiError("VALIDATION_ERROR", { message: "The callback cannot be read." });
}
