import { expect, it } from "vitest";

import { changesOfPatch, updateOf } from "../../shared/platform/table/update.ts";

const key = { pk: "A#1", sk: "A" };

it("writes every kind of change in DynamoDB's words, with a placeholder for each name and value", () => {
  const update = updateOf(
    key,
    {
      set: { status: "sent", left: undefined },
      setIfAbsent: { since: "now" },
      remove: ["token"],
      add: { count: 1 },
      take: { slots: new Set(["a"]) },
    },
    {
      is: { status: "queued" },
      present: ["pk"],
      absent: ["closedAt"],
      where: "#count < :max",
      values: { ":max": 3 },
    },
  );
  expect(update).toEqual({
    key,
    update:
      "SET #status = :status, #since = if_not_exists(#since, :since) REMOVE #token ADD #count :count_added " +
      "DELETE #slots :slots_taken",
    condition:
      "#status = :status_required AND attribute_exists(#pk) AND attribute_not_exists(#closedAt) AND (#count < :max)",
    names: {
      "#status": "status",
      "#since": "since",
      "#token": "token",
      "#count": "count",
      "#slots": "slots",
      "#pk": "pk",
      "#closedAt": "closedAt",
    },
    values: {
      ":status": "sent",
      ":since": "now",
      ":count_added": 1,
      ":slots_taken": new Set(["a"]),
      ":status_required": "queued",
      ":max": 3,
    },
  });
});

it("omits absent values and conditions, because DynamoDB rejects empty ones", () => {
  expect(updateOf(key, { remove: ["token"] })).toEqual({
    key,
    update: "REMOVE #token",
    names: { "#token": "token" },
  });
});

it("rejects a requirement without a value, which would match the wrong items", () => {
  expect(() => updateOf(key, { set: { a: 1 } }, { is: { leaseToken: undefined } })).toThrow(
    "requires a leaseToken that it does not know",
  );
});

it("rejects one placeholder for two values", () => {
  expect(() => updateOf(key, { set: { at: 1 } }, { where: "#at < :at", values: { ":at": 2 } })).toThrow(
    ":at stands for two values",
  );
});

it("a patch sets what is given, removes what is null and leaves what is undefined", () => {
  expect(changesOfPatch({ name: "a", note: null, tag: undefined })).toEqual({
    set: { name: "a", tag: undefined },
    remove: ["note"],
  });
});
