import * as z from "zod/mini";

import { orNotFound } from "../../api/contract/errors.ts";
import { Template } from "../../api/contract/templates.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { versionField } from "../../platform/table/version.ts";
import { placeholdersOf } from "./render.ts";

export const TemplateRecord = z.extend(z.omit(Template, { placeholders: true }), {
  entity: z.literal("template"),
  organizationId: z.string(),
  version: versionField,
});
export type TemplateRecord = z.infer<typeof TemplateRecord>;

export const maxTemplates = 1_000;

/** Reads a template as it is now. */
export async function findTemplate(
  organizationId: string,
  templateId: string,
): Promise<TemplateRecord | undefined> {
  return findItem(TemplateRecord, keys.template(organizationId, templateId), { consistent: true });
}

/** Reads a template as it is now. @throws ApiError NOT_FOUND, also for a template of another organization */
export async function readTemplate(organizationId: string, templateId: string): Promise<TemplateRecord> {
  return orNotFound(await findTemplate(organizationId, templateId));
}

export function toApiTemplate(record: TemplateRecord): Template {
  return {
    id: record.id,
    name: record.name,
    body: record.body,
    placeholders: placeholdersOf(record.body),
    version: record.version,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
  };
}
