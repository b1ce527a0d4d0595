import { describe, expect, it } from "vitest";

import { expressionsOf, field, type UntypedRequirements } from "../../shared/platform/table/expressions.ts";
import { changesOfPatch } from "../../shared/platform/table/write.ts";

describe("changes", () => {
  it("of every kind have a placeholder for each name and value", () => {
    const changes = {
      set: { status: "sent", left: undefined },
      setIfAbsent: { since: "now" },
      remove: ["token"],
      add: { count: 1 },
      take: { slots: new Set(["a"]) },
    };
    expect(expressionsOf(changes, {})).toEqual({
      UpdateExpression:
        "SET #status = :status, #since = if_not_exists(#since, :since) REMOVE #token ADD #count :count " +
        "DELETE #slots :slots",
      ExpressionAttributeNames: {
        "#status": "status",
        "#since": "since",
        "#token": "token",
        "#count": "count",
        "#slots": "slots",
      },
      ExpressionAttributeValues: {
        ":status": "sent",
        ":since": "now",
        ":count": 1,
        ":slots": new Set(["a"]),
      },
    });
  });

  it("of a patch set what is given, remove what is null and leave what is undefined", () => {
    expect(changesOfPatch<"user">({ email: "a", firstName: null, lastName: undefined })).toEqual({
      set: { email: "a", lastName: undefined },
      remove: ["firstName"],
    });
  });
});

describe("requirements", () => {
  it.each<[UntypedRequirements, string]>([
    [{ is: { a: 1, b: 2 } }, "#a = :a AND #b = :b"],
    [{ isNot: { a: 1 } }, "#a <> :a"],
    [{ below: { a: 1 }, atMost: { b: 2 } }, "#a < :a AND #b <= :b"],
    [{ above: { a: 1 }, atLeast: { b: 2 } }, "#a > :a AND #b >= :b"],
    [{ above: { a: 1 }, atMost: { a: 3 } }, "#a <= :a AND #a > :a_"],
    [{ above: { a: field("b") } }, "#a > #b"],
    [{ contains: { a: "x" }, sizeBelow: { a: 3 } }, "contains(#a, :a) AND size(#a) < :a_"],
    [{ present: ["a"], absent: ["b"] }, "attribute_exists(#a) AND attribute_not_exists(#b)"],
    [{ is: { b: 2 }, ifPresent: { is: { a: 1 } } }, "#b = :b AND (attribute_not_exists(#a) OR #a = :a)"],
    [
      { is: { a: 1 }, anyOf: [{ absent: ["b"] }, { below: { b: 2 }, above: { c: 3 } }] },
      "#a = :a AND (attribute_not_exists(#b) OR #b < :b AND #c > :c)",
    ],
  ])("%j", (requirements, condition) => {
    expect(expressionsOf({}, requirements).ConditionExpression).toBe(condition);
  });

  it("have placeholders of their own where a change has another value", () => {
    const { ExpressionAttributeValues: values, ...others } = expressionsOf(
      { set: { state: "open", at: 1 } },
      { is: { state: "late" }, below: { at: 1 } },
    );
    expect(values).toEqual({ ":state": "open", ":at": 1, ":state_": "late" });
    expect(others).toMatchObject({
      UpdateExpression: "SET #state = :state, #at = :at",
      ConditionExpression: "#state = :state_ AND #at < :at",
    });
  });

  it("without a value are rejected, because they would match the wrong items", () => {
    expect(() => expressionsOf({}, { is: { leaseToken: undefined } })).toThrow(
      "requires a leaseToken that it does not know",
    );
  });
});

it("omits empty parts, because DynamoDB rejects them", () => {
  expect(expressionsOf({}, {})).toEqual({});
  expect(expressionsOf({ remove: ["token"] }, {})).toEqual({
    UpdateExpression: "REMOVE #token",
    ExpressionAttributeNames: { "#token": "token" },
  });
});
