import { computed, signal } from "@preact/signals";

/*
 * The address of a view stands behind the `#`, so that the gateway serves one page for all of them:
 * `#/messages/msg_1?status=failed`.
 */

/** The props of a view: the parameters of its address and its query. */
export interface ViewProps {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

interface Location {
  /** The parts of the path, without its slashes. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
});

/** Where the person is. */
export const here = computed((): Location => {
  const [path = "", search = ""] = hash.value.replace(/^#\/?/, "").split("?");
  return { parts: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(search) };
});

/** What a pattern such as `messages/:id` finds in the path of the view; undefined where it is another path. */
export function match(pattern: string, { parts }: Location): Record<string, string> | undefined {
  const wanted = pattern.split("/").filter(Boolean);
  if (wanted.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, want] of wanted.entries()) {
    const part = parts[index] ?? "";
    if (want.startsWith(":")) params[want.slice(1)] = part;
    else if (want !== part) return undefined;
  }
  return params;
}

/** Leads to another view. */
export function go(path: string): void {
  location.hash = `#/${path}`;
}

/** The view that the address bar names, without its query; after `go` already the one that it leads to. */
export function currentView(): string {
  return location.hash.split("?")[0] ?? "";
}

/** The address of a view with a query, to link to; what is undefined or empty is left out. */
export function linkTo(path: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((each): each is [string, string] => (each[1] ?? "") !== "");
  const search = new URLSearchParams(given).toString();
  return `#/${path}${search === "" ? "" : `?${search}`}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
