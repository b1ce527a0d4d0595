import * as z from "zod/mini";

/*
 * Drafts of forms that were not submitted successfully. They are in sessionStorage: they survive navigation and a reload,
 * belong to this tab only, and are removed at logout.
 */

const Draft = z.object({ values: z.record(z.string(), z.unknown()), attemptKey: z.string() });

/** The values of a form and the idempotency key of its last submit, which may have succeeded without a response. */
type Draft = z.infer<typeof Draft>;

function keyOf(form: string): string {
  return `draft ${form}`;
}

export function readDraft(form: string): Draft | undefined {
  try {
    return Draft.parse(JSON.parse(sessionStorage.getItem(keyOf(form)) ?? "null"));
  } catch {
    return undefined;
  }
}

export function saveDraft(form: string, draft: Draft): void {
  try {
    sessionStorage.setItem(keyOf(form), JSON.stringify(draft));
  } catch {
    // The storage is full; the form keeps its values while it is open.
  }
}

export function dropDraft(form: string): void {
  sessionStorage.removeItem(keyOf(form));
}
