import type { z } from "zod/mini";

import { NotReachedError } from "./call.ts";

/** What placeholders stand for, such as `to` for {to} and `secret.token` for {secret.token}. */
export type Values = ReadonlyMap<string, string>;

const placeholder = /\{([A-Za-z][\w.-]*)\}/g;

/** The names of a template's placeholders. */
export function placeholdersOf(template: string): string[] {
  return [...template.matchAll(placeholder)].map(([, name = ""]) => name);
}

/**
 * Fills in a template in one pass, so that nothing that is filled in is taken for a placeholder.
 * @throws NotReachedError when a placeholder stands for nothing
 */
export function filled(
  template: string,
  values: Values,
  encode: (value: string) => string = (value) => value,
): string {
  return template.replace(placeholder, (_, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new NotReachedError(`NoValueFor.${name}`);
    return encode(value);
  });
}

/** Fills in all texts of a JSON value. A text that is nothing but {validitySeconds} becomes a number. */
export function filledJson(template: z.core.util.JSONType, values: Values): z.core.util.JSONType {
  if (template === "{validitySeconds}") return Number(filled(template, values));
  if (typeof template === "string") return filled(template, values);
  if (Array.isArray(template)) return template.map((each) => filledJson(each, values));
  if (typeof template !== "object" || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([name, each]) => [name, filledJson(each, values)]));
}

/** All texts of a JSON value. */
export function textsOf(value: z.core.util.JSONType): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
