import type { Page } from "../api/contract/primitives.ts";
import type { Verification, VerificationsQuery } from "../api/contract/verifications.ts";
import type { Viewer } from "../platform/auth/actor.ts";
import { keys } from "../platform/table/keys.ts";
import { readWantedPage } from "../platform/table/page.ts";
import { readVerification, statusOf, toApiVerification, VerificationRecord } from "./record.ts";

/** Returns a page of an organization's verifications, newest first. */
export async function listVerifications(
  { organizationId, isTest }: Viewer,
  query: VerificationsQuery,
): Promise<Page<Verification>> {
  const { status, to } = query;
  const pk = isTest ? keys.testVerifications(organizationId) : keys.verification(organizationId, "").pk;
  const page = await readWantedPage(
    VerificationRecord,
    { pk, newestFirst: true, consistent: true },
    query,
    (record) =>
      (status === undefined || statusOf(record) === status) && (to === undefined || record.to === to),
  );
  return { rows: page.rows.map(toApiVerification), meta: page.meta };
}

/** @throws ApiError NOT_FOUND, also for a verification of another organization */
export async function getVerification(viewer: Viewer, id: string): Promise<Verification> {
  return toApiVerification(await readVerification(viewer, id));
}
