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

/** A call of someone who says that they are a carrier. */
export interface CarrierCall {
  readonly params: { readonly carrier: string; readonly report: Report };
  readonly query: { readonly token?: string | undefined; readonly reference?: string | undefined };
  /** What the call says, in the carrier's own fields; a carrier may gather several reports in one call. */
  readonly reports: readonly Fields[];
  readonly method: string;
  readonly path: string;
  readonly queryString: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** An answer that no carrier takes for a message to the phone. */
const nothing: RawResponse = {
  headers: { "Content-Type": "text/xml; charset=utf-8" },
  body: '<?xml version="1.0" encoding="UTF-8"?><Response/>',
};

/**
 * Takes what carriers report: looks whether it is one of ours who calls, understands the call, and queues what it says.
 * The carriers are known for half a minute, so that a call takes one write, onto the queue.
 * @returns takes one call. It throws ApiError NOT_FOUND for whoever is no carrier, VALIDATION_ERROR where nothing can be
 *   understood; neither says more, nor does the log. Of several reports those that cannot be understood are passed over:
 *   the carrier would bring all of them again and again
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

/** Whether a call carries the token of its carrier. Of no carrier it takes as long to say. */
function hasToken(carrier: CarrierRecord | undefined, token = ""): carrier is CarrierRecord {
  const given = createHash("sha256").update(token).digest();
  const expected = Buffer.from(carrier?.callbackTokenHash ?? "", "hex");
  const isKnown = expected.byteLength === given.byteLength;
  return timingSafeEqual(given, isKnown ? expected : Buffer.alloc(given.byteLength)) && isKnown;
}

/** Whether a call is signed, where those of its carrier are. */
async function isSigned(carrier: CarrierRecord, call: CarrierCall): Promise<boolean> {
  if (carrier.settings.kind !== "twilio") return true;
  const { callbackBaseUrl, callbackSecretId } = carrier;
  const [fields, ...others] = call.reports;
  // A signature is over the fields of one.
  if (fields === undefined || others.length > 0) return false;
  if (call.method !== "POST" || callbackBaseUrl === undefined || callbackSecretId === undefined) return false;
  const { "x-twilio-signature": signature = "" } = call.headers;
  const url = `${callbackBaseUrl}${call.path}?${call.queryString}`;
  return isSignedByTwilio({ url, fields, signature }, await readAuthToken(callbackSecretId));
}

/** What understands the calls of a carrier. Some kinds report nothing in this way. */
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

/** One report, and the call that it came with. */
interface ReportOfCall {
  readonly call: CarrierCall;
  readonly fields: Fields;
}

/** What is not the end is said of every message, and changes nothing that anyone sees. */
type Understood = ReportJob | "not the end";

function readReceipt(
  carrier: CarrierRecord,
  { receipt: read }: ReportReader,
  { call, fields }: ReportOfCall,
): Understood | undefined {
  const receipt = read(fields);
  // The address of the call is one message's; of several each says by itself which it is about.
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
  // Where a carrier has no ids, whatever it brings is new.
  const { carrierId = reportId } = reply;
  const receivedAt = now().toISOString();
  return { kind: "reply", ...reply, reportId, carrierId, carrier: carrier.name, receivedAt };
}

function notUnderstood(): ApiError {
  return new ApiError("VALIDATION_ERROR", { message: "The report cannot be understood." });
}
