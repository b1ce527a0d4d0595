import * as z from "zod";

import { usedQuota, releaseQuota, takeQuota } from "../accounts/organization-record.ts";
import { ApiError, invalidField } from "../contract/errors.ts";
import type { Page, PageQuery } from "../contract/primitives.ts";
import type { CreateTemplateRequest, Template, UpdateTemplateRequest } from "../contract/templates.ts";
import { now } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { keys } from "../platform/table/keys.ts";
import { readPage } from "../platform/table/page.ts";
import { patch } from "../platform/table/patch.ts";
import { readItem, transact } from "../platform/table/table.ts";
import { placeholdersOf, problemOf } from "./render.ts";

export const TemplateRecord = z.object({
  entity: z.literal("template"),
  id: z.string(),
  organizationId: z.string(),
  name: z.string(),
  body: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type TemplateRecord = z.infer<typeof TemplateRecord>;

export const maxTemplates = 1_000;

/**
 * Adds a template.
 * @throws ApiError VALIDATION_ERROR for a malformed placeholder; CONFLICT when the organisation has as many as
 *   it may have
 */
export async function createTemplate(
  organizationId: string,
  request: CreateTemplateRequest,
): Promise<Template> {
  checkBody(request.body);
  const createdAt = now().toISOString();
  const record: TemplateRecord = {
    entity: "template",
    id: newId("tpl"),
    organizationId,
    ...request,
    createdAt,
    updatedAt: createdAt,
  };
  const created = await transact([
    takeQuota(organizationId, "templateCount", maxTemplates),
    {
      put: { ...keys.template(organizationId, record.id), ...record },
      condition: "attribute_not_exists(pk)",
    },
  ]);
  if (created.committed) return presentTemplate(record);
  if (created.refusals[0] === undefined) throw new ApiError("UNAVAILABLE");
  throw new ApiError("CONFLICT", { message: `An organisation has at most ${maxTemplates} templates.` });
}

function checkBody(body: string): void {
  const problem = problemOf(body);
  if (problem !== undefined) throw invalidField("body", problem);
}

/** A page of the organisation's templates, newest first. */
export async function listTemplates(organizationId: string, query: PageQuery): Promise<Page<Template>> {
  const page = await readPage(
    TemplateRecord.extend({ sk: z.string() }),
    { pk: keys.template(organizationId, "").pk, newestFirst: true, consistent: true },
    query,
    await usedQuota(organizationId, "templateCount"),
  );
  return { rows: page.rows.map(presentTemplate), meta: page.meta };
}

/** One template as it is now, or undefined where there is none. */
export async function findTemplate(
  organizationId: string,
  templateId: string,
): Promise<TemplateRecord | undefined> {
  return readItem(TemplateRecord, keys.template(organizationId, templateId), { consistent: true });
}

/**
 * One template as it is now.
 * @throws ApiError NOT_FOUND, also for a template of another organisation
 */
export async function getTemplate(organizationId: string, templateId: string): Promise<Template> {
  const record = await findTemplate(organizationId, templateId);
  if (record === undefined) throw new ApiError("NOT_FOUND");
  return presentTemplate(record);
}

/**
 * Changes the given fields and no others. Without any, nothing changes.
 * @throws ApiError VALIDATION_ERROR for a malformed placeholder; NOT_FOUND, also for a template of another
 *   organisation; UNAVAILABLE when too many other changes came in between
 */
export async function updateTemplate(
  organizationId: string,
  templateId: string,
  request: UpdateTemplateRequest,
): Promise<Template> {
  if (request.body !== undefined) checkBody(request.body);
  if (request.name !== undefined || request.body !== undefined) {
    // A transaction, although of one write: unlike a plain update it waits for others on the same item.
    const updated = await transact([
      {
        key: keys.template(organizationId, templateId),
        ...patch({ ...request, updatedAt: now().toISOString() }),
        condition: "attribute_exists(pk)",
      },
    ]);
    if (!updated.committed) throw refusal(updated.refusals[0]);
  }
  return getTemplate(organizationId, templateId);
}

/**
 * Removes a template.
 * @throws ApiError NOT_FOUND, also for a template of another organisation; UNAVAILABLE when too many other
 *   changes came in between
 */
export async function deleteTemplate(
  organizationId: string,
  templateId: string,
): Promise<{ id: string; deleted: true }> {
  const deleted = await transact([
    { delete: keys.template(organizationId, templateId), condition: "attribute_exists(pk)" },
    releaseQuota(organizationId, "templateCount"),
  ]);
  if (!deleted.committed) throw refusal(deleted.refusals[0]);
  return { id: templateId, deleted: true };
}

/** Why a write to a template did not go through: it is not there, or others were in the way. */
function refusal(ofTemplate: object | undefined): ApiError {
  return new ApiError(ofTemplate === undefined ? "UNAVAILABLE" : "NOT_FOUND");
}

function presentTemplate(record: TemplateRecord): Template {
  return {
    id: record.id,
    name: record.name,
    body: record.body,
    placeholders: placeholdersOf(record.body),
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
  };
}
