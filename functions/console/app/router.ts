import { computed, signal } from "@preact/signals";

/*
 * Views have their address in the URL fragment, so that the gateway serves one page for all of them:
 * `#/messages/msg_1?status=failed`.
 */

/** The props of a view: the ID in its address, which is empty if there is none, and its query. */
export interface ViewProps {
  readonly id: string;
  readonly query: URLSearchParams;
}

interface Location {
  /** The segments of the path. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
});

/** The current location. */
export const here = computed((): Location => {
  const [path = "", search = ""] = hash.value.replace(/^#\/?/, "").split("?");
  return { parts: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(search) };
});

/** Matches a path with a pattern such as `messages/:id`. @returns its ID, or undefined if it does not match */
export function match(pattern: string, { parts }: Location): string | undefined {
  const wanted = pattern.split("/").filter(Boolean);
  const isMatch =
    wanted.length === parts.length && wanted.every((want, index) => want === ":id" || want === parts[index]);
  return isMatch ? (parts[wanted.indexOf(":id")] ?? "") : undefined;
}

/** Navigates to a view. */
export function go(path: string): void {
  location.hash = `#/${path}`;
}

/** The link to the view that the person has to continue with, after another one. */
export const leftView = signal("#/");

/** Navigates to a view that comes first, and keeps the address to continue with. */
export function leaveFor(path: string): void {
  if (currentView() !== `#/${path}`) leftView.value = location.hash || "#/";
  go(path);
}

/** The current view without its query. Unlike `here`, it changes as soon as `go` is called. */
export function currentView(): string {
  return location.hash.split("?")[0] ?? "";
}

/** A link to a view. Query parameters that are undefined or empty are left out. */
export function linkTo(path: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((each): each is [string, string] => (each[1] ?? "") !== "");
  const search = new URLSearchParams(given).toString();
  return `#/${path}${search === "" ? "" : `?${search}`}`;
}

/** The link to the list that was left last, with its filters. */
export function linkBack(view: string): string {
  return lastLists.get(view) ?? `#/${view}`;
}

/** Keeps the address of a list for the way back to it. */
export function rememberList(view: string): void {
  lastLists.set(view, location.hash);
}

const lastLists = new Map<string, string>();

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
