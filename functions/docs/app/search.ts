import MiniSearch from "minisearch";

import type { SearchRecord } from "../../../shared/api/contract/docs.ts";

const maxResults = 12;
/** Splits names such as `sendSms` and `INSUFFICIENT_BALANCE` into words, and keeps them whole as well. */
const tokenize = (text: string): string[] =>
  text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => {
    const parts = word.split(/_|(?<=[a-z])(?=[A-Z])/);
    return parts.length > 1 ? [word, ...parts] : [word];
  });

/** Words that people look for, and those that the documentation has for them. */
const otherWords: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/two[- ]?way|repl(y|ies)|incoming/gi, "inbound"],
  [/bulk|mass|broadcast|newsletter/gi, "campaign"],
  [/leak(ed)?|stolen|compromised|lost/gi, "revoke"],
  [/delivery reports?|dlrs?/gi, "delivery receipt"],
  [/(appointment )?reminders?|later/gi, "scheduledAt"],
  [/(phone )?number format|e\.?164|msisdn/gi, "international digits"],
  [/unsubscribe|blacklist|blocklist/gi, "opt-out"],
  [/sandbox/gi, "test number"],
  [/2fa|mfa/gi, "second factor"],
  [/rates?\b|costs?|tariffs?/gi, "prices"],
  [/callbacks?/gi, "webhook"],
  [/colleagues?|team|users?\b/gi, "member"],
  [/sign[- ]?up/gi, "register"],
];

type UrlOf = (address: string) => string;

let dialog: HTMLDialogElement | undefined;

/**
 * Opens the search. The first call loads the index.
 * @param urlOf returns the URL of an address of the gateway
 */
export async function showSearch(urlOf: UrlOf): Promise<void> {
  dialog ??= await createDialog(urlOf);
  if (!dialog.open) dialog.showModal();
}

async function createDialog(urlOf: UrlOf): Promise<HTMLDialogElement> {
  const response = await fetch(urlOf("/docs/search.json"));
  const records: SearchRecord[] = await response.json();
  const index = new MiniSearch<SearchRecord>({
    fields: ["title", "section", "text"],
    tokenize,
    searchOptions: { boost: { title: 4, section: 2 }, prefix: true, fuzzy: 0.15, combineWith: "AND" },
  });
  index.addAll(records);
  const created = document.createElement("dialog");
  created.className = "search-dialog";
  created.setAttribute("aria-label", "Search");
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "Search the documentation";
  input.setAttribute("aria-label", "Search the documentation");
  const count = document.createElement("p");
  count.className = "hint";
  count.setAttribute("role", "status");
  const list = document.createElement("ul");
  const close = document.createElement("button");
  close.textContent = "Close";
  close.addEventListener("click", () => created.close());
  created.append(input, close, count, list);
  input.addEventListener("input", () => {
    const other = otherWords.reduce((text, [pattern, words]) => text.replace(pattern, words), input.value);
    // All words of the reader, or all of those that the documentation has for them.
    const queries = [input.value, other].map((text) => ({ combineWith: "AND" as const, queries: [text] }));
    const withAllWords = index.search({ combineWith: "OR", queries });
    const found = (withAllWords.length > 0 ? withAllWords : index.search(other, { combineWith: "OR" })).slice(
      0,
      maxResults,
    );
    const results = found.length === 1 ? "result" : "results";
    count.textContent = input.value === "" ? "" : `${found.length === 0 ? "No" : found.length} ${results}`;
    list.replaceChildren(
      ...found
        .flatMap(({ id }) => records.find((record) => record.id === id) ?? [])
        .map((record) => resultItem(record, urlOf)),
    );
  });
  list.addEventListener("click", () => created.close());
  document.body.append(created);
  return created;
}

function resultItem({ address, title, section, text }: SearchRecord, urlOf: UrlOf): HTMLLIElement {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = urlOf(address);
  const name = document.createElement("b");
  name.textContent = title;
  const place = document.createElement("span");
  place.textContent = ` ${section}`;
  const excerpt = document.createElement("p");
  excerpt.textContent = text.slice(0, 140);
  link.append(name, place, excerpt);
  item.append(link);
  return item;
}
