import { signal } from "@preact/signals";
import type { Desk, Response as Result, ShownCommand } from "@sms-gateway/operator/desk/protocol.ts";

import { messageOf } from "../problems.ts";

/** The pages and commands; a text instead explains why there are none. */
export const desk = signal<Desk | string>("");

/** The number of changes so far. Panels are read again after each. */
export const changes = signal(0);

/** Begins the session with the token of the link, or continues it. */
export async function openDesk(): Promise<void> {
  const [, token] = /^#token=(\w+)$/.exec(location.hash) ?? [];
  try {
    if (token !== undefined) {
      location.replace("#/");
      await post("session", { token });
    }
    desk.value = await post("desk", {});
  } catch (error) {
    desk.value = messageOf(error);
  }
}

export type Input = Record<string, boolean | string>;

/** Runs a command. Repeating a request with consent returns the outcome of the first. */
export async function run(
  command: string,
  input: Input,
  consent?: { readonly ticket: string; readonly typed: string },
): Promise<Result> {
  // Defaults apply to empty parts.
  const given = Object.entries(input).filter(([, value]) => value !== "" && value !== false);
  return post("run", { command, input: Object.fromEntries(given), consent });
}

async function post<Data>(path: string, body: object): Promise<Data> {
  const response = await fetch(path, { method: "POST", body: JSON.stringify(body) }).catch(() => {
    const remedy =
      "Try again: nothing is done twice. If it has ended, the audit log has the outcome of a change.";
    throw new Error(`The desk did not respond. ${remedy}`);
  });
  const text = await response.text();
  if (response.status === 401) desk.value = text;
  if (!response.ok) throw new Error(text);
  return JSON.parse(text);
}

/** A command with a part of its input. */
export interface Prepared {
  readonly label: string;
  readonly command: ShownCommand;
  readonly input: Input;
}

/**
 * Reads lines of a page. Those of commands that this release does not have are left out.
 * @param values for the names in braces; parts without a value are left open
 */
export function prepared(lines: readonly string[], values: Readonly<Record<string, unknown>>): Prepared[] {
  const known = typeof desk.value === "string" ? [] : desk.value.commands;
  return lines.flatMap((line) => {
    const [, ownLabel, typed = ""] = /^(?:(.*?): )?(.*)$/.exec(line) ?? [];
    const command = known.find(({ name }) => `${typed} `.startsWith(`${name} `));
    if (command === undefined) return [];
    const parameters = command.parts.filter(({ title }) => !title.startsWith("--")).values();
    const words = typed.slice(command.name.length).split(" ").filter(Boolean).values();
    const input: Input = {};
    for (const word of words) {
      const option = command.parts.find(({ title }) => title.split(" ")[0] === word);
      const { name } = option ?? parameters.next().value ?? { name: "" };
      const text = option === undefined ? word : isFlag(option) ? true : (words.next().value ?? "");
      const value = typeof text === "string" && text.startsWith("{") ? values[text.slice(1, -1)] : text;
      input[name] = typeof value === "string" || value === true ? value : "";
    }
    const [noun = "", verb = noun] = command.name.split(" ");
    // Verbs such as set-daily-cap have an object.
    const label = ownLabel ?? wordsOf(verb.includes("-") ? verb : `${verb} ${noun.replace(/s$/, "")}`);
    return { label, command, input };
  });
}

export function isFlag({ title }: { readonly title: string }): boolean {
  return title.startsWith("--") && !title.includes("<");
}

/** A name of a part or a heading, in words. */
export function wordsOf(name: string): string {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll("-", " ")
    .toLowerCase();
  const upper = words.replaceAll(/\b(id|kyc)\b/g, (each) => each.toUpperCase());
  return upper.charAt(0).toUpperCase() + upper.slice(1);
}
