import { withAllDigits } from "../platform/all-digits.ts";

/**
 * Returns the value in the JSON of a response at a path such as `messages.0.status`.
 * @returns undefined also for a response that is not JSON
 */
export function valueAt(text: string, path: string): unknown {
  try {
    return valueIn(JSON.parse(text, withAllDigits), path);
  } catch {
    return undefined;
  }
}

/** Returns the part of a value at such a path; undefined where there is none. */
export function valueIn(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = new Map(Object.entries(found)).get(name);
  }
  return found;
}
