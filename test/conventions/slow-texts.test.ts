import { glob, readFile } from "node:fs/promises";

import { expect, it } from "vitest";
import * as z from "zod/mini";

import { validate } from "../../shared/api/contract/validation.ts";
import { routes } from "../../shared/api/routes.ts";
import type { Route } from "../../shared/api/routes/route.ts";

/*
 * A check whose time grows with the square of a text's length takes seconds for a text of a stranger, and the caller pays
 * nothing. At this size such a check takes half a second, and one that reads the text once a millisecond.
 */

const size = 20_000;
const longestMs = 100;

const units = [
  "a",
  "1",
  " ",
  ".",
  "-",
  ",",
  "/",
  "{",
  "@",
  "(",
  "<",
  ">",
  "é",
  "a-",
  "1 ",
  " ,",
  "\n",
  "{{ ",
];
const hostileTexts = units.flatMap((unit) =>
  ["", "1", "a@", "xn--"].flatMap((start) =>
    ["", "\n", "\0"].map((end) => start + unit.repeat(size / unit.length) + end),
  ),
);

/** Whether a function takes too long each time, by the CPU that this thread uses: other programs do not count. */
function isSlow(read: () => unknown): boolean {
  return [1, 2, 3].every(() => {
    const from = process.threadCpuUsage();
    read();
    const { user, system } = process.threadCpuUsage(from);
    return user + system > longestMs * 1_000;
  });
}

/** Returns the first text that takes too long. */
function slowText(read: (text: string) => unknown): string | undefined {
  const text = hostileTexts.find((each) => isSlow(() => read(each)));
  return text && JSON.stringify(`${text.slice(0, 6)}…${text.slice(-2)}`);
}

/** Regular expressions that read only texts of a bounded length, and why. */
const bounded: readonly string[] = [
  // `writtenNumber` rejects more than 60 characters first.
  String.raw`/^[1-9]\d?[.)]\s|\d\D*\((\D*\d){1,4}\D*\)$/`,
  // It reads an example of our own while the documentation is built.
  String.raw`/^(\s*)"([A-Za-z_$][\w$]*)":/gm`,
];

/** A regular expression in source code: a slash after what an expression cannot end with. */
const literal =
  /(?<=[=(,:[!&|?{};]\s*|return\s+)\/(?![*/])((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)(?=[\s,;.)\]}])/g;

it("each regular expression of the functions reads a text in linear time, also one that does not match", async () => {
  const found = new Set<string>();
  for await (const name of glob("{functions,shared}/**/*.ts")) {
    // They run in browsers and in programs of customers.
    if (/^functions\/(console|docs)\/app\/|^shared\/api\/client\//.test(name)) continue;
    const source = (await readFile(name, "utf8")).replaceAll(/^\s*(\/?\*|\/\/).*$/gm, "");
    for (const [text] of source.matchAll(literal)) found.add(text);
  }
  expect(found.size).toBeGreaterThan(150);
  const slow = [...found].filter((text) => {
    const [, pattern = "", flags = ""] = /^\/(.*)\/(\w*)$/s.exec(text) ?? [];
    const regex = new RegExp(pattern, flags);
    return slowText((each) => each.replace(regex, "")) !== undefined;
  });
  expect(slow.toSorted()).toEqual(bounded.toSorted());
});

/** The definition of a schema, with the schemas within. */
interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodMiniType;
  readonly element?: z.ZodMiniType;
  readonly in?: z.ZodMiniType;
  readonly out?: z.ZodMiniType;
  readonly keyType?: z.ZodMiniType;
  readonly valueType?: z.ZodMiniType;
  readonly options?: readonly z.ZodMiniType[];
  readonly shape?: Readonly<Record<string, z.ZodMiniType>>;
}

/** Returns the schemas within one that can read a text, with their places. */
function readersOfText(schema: z.ZodMiniType | undefined, place: string): [string, z.ZodMiniType][] {
  if (schema === undefined) return [];
  const { type, shape = {}, options = [], ...def }: Definition = schema.def;
  const within = [def.innerType, def.element, def.in, def.out, def.keyType, def.valueType, ...options];
  return [
    ...(["pipe", "string", "transform"].includes(type) ? [[place, schema] as [string, z.ZodMiniType]] : []),
    ...within.flatMap((each) => readersOfText(each, place)),
    ...Object.entries(shape).flatMap(([name, each]) => readersOfText(each, `${place}.${name}`)),
  ];
}

const rows = Object.entries<Route>(routes);
const readers = new Map(
  rows
    .flatMap(([name, { body, query, params }]) =>
      Object.entries({ body, query, params }).flatMap(([part, schema]) =>
        readersOfText(schema, `${name} ${part}`),
      ),
    )
    .map(([place, schema]) => [schema, place]),
);

it("each text of a request is checked in linear time", () => {
  expect(readers.size).toBeGreaterThan(100);
  const slow = [...readers].flatMap(([schema, place]) => {
    const text = slowText((each) => schema.safeParse(each));
    return text === undefined ? [] : [`${place}: ${text}`];
  });
  expect(slow).toEqual([]);
});

it("a text that is too long is wrong for this reason alone, because no other check reads it", () => {
  const limited = [...readers].flatMap(([schema, place]) => {
    const { maxLength } = schema.def.type === "string" ? z.toJSONSchema(schema) : {};
    return maxLength === undefined ? [] : [{ schema, place, maxLength }];
  });
  expect(limited.length).toBeGreaterThan(20);
  const others = limited.filter(({ schema, maxLength }) => {
    const { error } = schema.safeParse("\0{".repeat(maxLength));
    return error?.issues.length !== 1;
  });
  expect(others.map(({ place }) => place)).toEqual([]);
});

it("a body with as many unknown fields as it has room for is checked in time", () => {
  const names = Array.from({ length: size / 5 }, (_, index) => `n${index}`);
  const body = Object.fromEntries(names.map((name) => [name, 1]));
  const slow = rows.filter(([, { body: schema }]) => schema && isSlow(() => validate(schema, body)));
  expect(slow.map(([name]) => name)).toEqual([]);
});
