import { PageQuery } from "../contract/primitives.ts";
import { sendErrors } from "../contract/send-errors.ts";
import { AcceptedMessage } from "../contract/sms.ts";
import {
  CreateTemplateRequest,
  DeletedTemplate,
  SendTemplateRequest,
  Template,
  TemplateParams,
  UpdateTemplateRequest,
} from "../contract/templates.ts";
import type { Route } from "./route.ts";

export const listTemplates = {
  method: "GET",
  path: "/v1/templates",
  summary: "List templates, newest first",
  description: "Each template has the names of its placeholders.",
  scope: "read",
  query: PageQuery,
  data: Template,
  paged: true,
} as const satisfies Route;

export const createTemplate = {
  method: "POST",
  path: "/v1/templates",
  summary: "Create a template, with {{name}} as a placeholder for a value",
  description: "Write `{{firstName}}` where a value belongs, and pass the values when you send it.",
  scope: "campaigns",
  body: CreateTemplateRequest,
  status: 201,
  data: Template,
  idempotent: true,
  errors: ["CONFLICT"],
} as const satisfies Route;

export const getTemplate = {
  method: "GET",
  path: "/v1/templates/{id}",
  summary: "Get a template",
  description: "It has the text and the names of its placeholders.",
  scope: "read",
  params: TemplateParams,
  data: Template,
} as const satisfies Route;

export const updateTemplate = {
  method: "PATCH",
  path: "/v1/templates/{id}",
  summary: "Change the given fields of a template",
  description: "Campaigns that exist keep the text that they were created with. Unknown fields are rejected.",
  scope: "campaigns",
  params: TemplateParams,
  body: UpdateTemplateRequest,
  data: Template,
  errors: ["CONFLICT"],
} as const satisfies Route;

export const deleteTemplate = {
  method: "DELETE",
  path: "/v1/templates/{id}",
  summary: "Delete a template",
  description: "Messages and campaigns that were created from it stay as they are.",
  scope: "campaigns",
  params: TemplateParams,
  data: DeletedTemplate,
} as const satisfies Route;

export const sendTemplate = {
  method: "POST",
  path: "/v1/templates/{id}/send",
  summary: "Send a message from a template, with values for its placeholders",
  description: "Each placeholder needs a value. The rest is as in a send.",
  scope: "send",
  limitedKeys: true,
  testKeys: true,
  params: TemplateParams,
  body: SendTemplateRequest,
  status: 202,
  data: AcceptedMessage,
  idempotent: true,
  errors: sendErrors,
} as const satisfies Route;

export const routes = {
  listTemplates,
  createTemplate,
  getTemplate,
  updateTemplate,
  deleteTemplate,
  sendTemplate,
};
