import { expect, it } from "vitest";

import {
  hasSentStop,
  lastWord,
  optOutOf,
  type PersonsWord,
} from "../../shared/messages/opt-outs/standing.ts";

const words: readonly PersonsWord[] = [
  { word: "stop", saidAt: "2026-03-01T10:00:00.000Z" },
  { word: "start", saidAt: "2026-03-01T10:01:00.000Z" },
  { word: "stop", saidAt: "2026-03-01T10:02:00.000Z" },
];

function ordersOf<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) =>
    ordersOf(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]),
  );
}

function heardIn(order: readonly PersonsWord[]): PersonsWord | undefined {
  return order.reduce<PersonsWord | undefined>((known, heard) => lastWord(known, heard), undefined);
}

it("the latest keyword applies, in any order and number of arrivals", () => {
  for (const order of ordersOf([...words, ...words])) expect(heardIn(order)).toEqual(words[2]);
});

it("of STOP and START of the same moment STOP counts, in both orders", () => {
  const saidAt = "2026-03-01T10:00:00.000Z";
  const both = [{ word: "stop", saidAt } as const, { word: "start", saidAt } as const];
  for (const order of ordersOf(both)) expect(heardIn(order)).toEqual({ word: "stop", saidAt });
});

it("the person's STOP comes before the organization's note, which outlives a START", () => {
  const noted = { source: "api", createdAt: "2026-02-01T00:00:00.000Z" } as const;
  const [stop, start] = words;
  expect(optOutOf("1", { said: stop, noted })).toMatchObject({ source: "reply", createdAt: stop?.saidAt });
  expect(optOutOf("1", { said: start, noted })).toMatchObject({ source: "api" });
  expect(optOutOf("1", { said: start })).toBeUndefined();
  expect([hasSentStop({ said: stop }), hasSentStop({ said: start, noted })]).toEqual([true, false]);
});
