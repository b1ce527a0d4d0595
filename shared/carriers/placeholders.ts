import type { z } from "zod/mini";

import { UnreachableError } from "./call.ts";

/** The values of placeholders, such as `to` for {to} and `secret.token` for {secret.token}. */
export type Values = ReadonlyMap<string, string>;

const placeholder = /\{([A-Za-z][\w.-]*)\}/g;

/** Returns the names of a template's placeholders. */
export function placeholdersOf(template: string): string[] {
  return [...template.matchAll(placeholder)].map(([, name = ""]) => name);
}

/**
 * Fills in a template in one pass, so that no value is read as a placeholder.
 * @throws UnreachableError when a placeholder has no value
 */
export function filled(
  template: string,
  values: Values,
  encode: (value: string) => string = (value) => value,
): string {
  return template.replace(placeholder, (_, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new UnreachableError(`NoValueFor.${name}`);
    return encode(value);
  });
}

/** Fills in all texts of a JSON value. The text "{validitySeconds}" becomes a number. */
export function filledJson(template: z.core.util.JSONType, values: Values): z.core.util.JSONType {
  if (template === "{validitySeconds}") return Number(filled(template, values));
  if (typeof template === "string") return filled(template, values);
  if (Array.isArray(template)) return template.map((each) => filledJson(each, values));
  if (typeof template !== "object" || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([name, each]) => [name, filledJson(each, values)]));
}

/** Returns all texts of a JSON value. */
export function textsOf(value: z.core.util.JSONType): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
