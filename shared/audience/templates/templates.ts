import { ApiError, invalidField } from "../../api/contract/errors.ts";
import type { Page, PageQuery } from "../../api/contract/primitives.ts";
import type { CreateTemplateRequest, Template, UpdateTemplateRequest } from "../../api/contract/templates.ts";
import { now } from "../../platform/clock.ts";
import type { Attempt } from "../../platform/http/event.ts";
import { newId } from "../../platform/ids.ts";
import { keys } from "../../platform/table/keys.ts";
import { readPage } from "../../platform/table/page.ts";
import { transact, untilUndisturbed } from "../../platform/table/transact.ts";
import { atVersion, requireVersion } from "../../platform/table/version.ts";
import { insertOf, updateOf, deleteOf } from "../../platform/table/write.ts";
import { releaseQuota, takeQuota, usedQuota } from "../../tenancy/organizations/quota.ts";
import { maxTemplates, toApiTemplate, readTemplate, TemplateRecord } from "./record.ts";
import { problemOf } from "./render.ts";

/**
 * Adds a template.
 * @throws ApiError VALIDATION_ERROR for a malformed placeholder; CONFLICT when the organization has the most templates
 *   allowed; UNAVAILABLE
 */
export async function createTemplate(
  organizationId: string,
  request: CreateTemplateRequest,
  attempt?: Attempt,
): Promise<Template> {
  checkBody(request.body);
  const createdAt = now().toISOString();
  const record: TemplateRecord = {
    entity: "template",
    id: newId("tpl"),
    organizationId,
    ...request,
    version: 1,
    createdAt,
    updatedAt: createdAt,
  };
  const created = await transact({
    quota: takeQuota(organizationId, "templateCount", maxTemplates),
    template: insertOf(keys.template(organizationId, record.id), record),
    attempt: attempt === undefined ? [] : attempt.complete(toApiTemplate(record)),
  });
  if (created.outcome === "committed") return toApiTemplate(record);
  // Otherwise a later attempt of the same request took over. The idempotency of the request handles that.
  if (created.rejections.quota === undefined) throw new ApiError("UNAVAILABLE");
  throw new ApiError("CONFLICT", { message: `An organization has at most ${maxTemplates} templates.` });
}

function checkBody(body: string): void {
  const problem = problemOf(body);
  if (problem !== undefined) throw invalidField("body", problem);
}

/** Returns a page of the organization's templates, newest first. */
export async function listTemplates(organizationId: string, query: PageQuery): Promise<Page<Template>> {
  const page = await readPage(
    TemplateRecord,
    { pk: keys.template(organizationId, "").pk, newestFirst: true, consistent: true },
    query,
    await usedQuota(organizationId, "templateCount"),
  );
  return { rows: page.rows.map(toApiTemplate), meta: page.meta };
}

/** Reads a template as it is now. @throws ApiError NOT_FOUND, also for a template of another organization */
export async function getTemplate(organizationId: string, templateId: string): Promise<Template> {
  return toApiTemplate(await readTemplate(organizationId, templateId));
}

/**
 * Changes the given fields and no others. Without any, nothing changes.
 * @throws ApiError VALIDATION_ERROR for a malformed placeholder. NOT_FOUND, also for a template of another organization.
 *   CONFLICT for another version than the given one. UNAVAILABLE when too many other changes came in between
 */
export async function updateTemplate(
  organizationId: string,
  templateId: string,
  request: UpdateTemplateRequest,
): Promise<Template> {
  const { version, ...fields } = request;
  if (fields.body !== undefined) checkBody(fields.body);
  if (fields.name === undefined && fields.body === undefined) return getTemplate(organizationId, templateId);
  const changes = { set: { ...fields, updatedAt: now().toISOString() }, add: { version: 1 } };
  const key = keys.template(organizationId, templateId);
  return untilUndisturbed(async () => {
    const seen = await readTemplate(organizationId, templateId);
    requireVersion(version, seen.version);
    const update = updateOf(key, changes, { present: ["pk"], ...atVersion(version) });
    const isMade = (await transact({ template: update })).outcome === "committed";
    return isMade ? getTemplate(organizationId, templateId) : undefined;
  });
}

/**
 * Removes a template.
 * @throws ApiError NOT_FOUND, also for a template of another organization; UNAVAILABLE when too many other
 *   changes came in between
 */
export async function deleteTemplate(
  organizationId: string,
  templateId: string,
): Promise<{ id: string; deleted: true }> {
  const deleted = await transact({
    template: deleteOf(keys.template(organizationId, templateId), { present: ["pk"] }),
    quota: releaseQuota(organizationId, "templateCount"),
  });
  if (deleted.outcome === "rejected") throw new ApiError("NOT_FOUND");
  return { id: templateId, deleted: true };
}
