import { describe, expect, it } from "vitest";

import { keywordOf } from "../../shared/messages/numbers/keywords.ts";
import { addresseesOf, NumberRecord } from "../../shared/messages/numbers/record.ts";

it.each([
  [
    "stop",
    [
      "STOP",
      " stop. ",
      "Stop!",
      "StopAll",
      "stop all",
      "\u201cStop\u201d",
      "UNSUBSCRIBE",
      "end",
      "Quit",
      "cancel",
    ],
  ],
  [
    "stop",
    [
      "Arrêt",
      "ARRET",
      "stopp",
      "baja",
      "SAIR",
      "afmelden",
      "СТОП",
      "στοπ",
      "停止",
      "ストップ",
      "중지",
      "توقف",
    ],
  ],
  ["start", ["START", "unstop", "Alta", "Début".replace("Début", "démarrer"), "старт", "開始"]],
  ["help", ["HELP", "info?", "Ayuda", "aide", "HILFE", "помощь"]],
] as const)("%s is recognized when it is the whole message, in many languages", (keyword, texts) => {
  for (const text of texts) expect(keywordOf(text), text).toBe(keyword);
});

it.each(["", "please stop", "stop it", "stopping", "end of story", "yes", "👍", "1", "I want help", "st op"])(
  "%j is a message",
  (text) => {
    expect(keywordOf(text)).toBeUndefined();
  },
);

describe("a message to a number", () => {
  const number = (fields: object) =>
    NumberRecord.parse({ entity: "number", number: "90909", updatedAt: "2026-01-01", version: 1, ...fields });

  it("of one organization's own number is for that organization", () => {
    const own = number({ organizationId: "org_a" });
    expect(addresseesOf(own, "hello")).toEqual([{ organizationId: "org_a", keyword: undefined }]);
    expect(addresseesOf(own, "Stop.")).toEqual([{ organizationId: "org_a", keyword: "stop" }]);
  });

  it("that several share is for the one whose keyword it begins with", () => {
    const shared = number({ keywords: { PIZZA: "org_a", TAXI: "org_b", CAB: "org_b" } });
    expect(addresseesOf(shared, "Pizza, please")).toEqual([{ organizationId: "org_a", keyword: undefined }]);
    expect(addresseesOf(shared, "taxi stop")).toEqual([{ organizationId: "org_b", keyword: "stop" }]);
    expect(addresseesOf(shared, "STOP taxi")).toEqual([{ organizationId: "org_b", keyword: "stop" }]);
    expect(addresseesOf(shared, "I want a pizza")).toEqual([]);
    expect(addresseesOf(shared, "constructor")).toEqual([]);
    expect(addresseesOf(shared, "stop")).toEqual([
      { organizationId: "org_a", keyword: "stop" },
      { organizationId: "org_b", keyword: "stop" },
    ]);
  });

  it("of a number without an organization has no recipient", () => {
    expect(addresseesOf(undefined, "stop")).toEqual([]);
    expect(addresseesOf(number({}), "stop")).toEqual([]);
  });
});
