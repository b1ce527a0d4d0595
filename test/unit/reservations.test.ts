import { setImmediate as nextTurn } from "node:timers/promises";

import { expect, it, vi } from "vitest";

import { ApiError } from "../../shared/api/contract/errors.ts";
import { endBy, reserveAll, type Reservation } from "../../shared/messages/accept/reservations.ts";

const ended: string[] = [];

/** A reservation that notes its end, some turns after the call. */
function reservation(name: string, fields: Partial<Reservation> = {}): Reservation {
  const end = async (how: string): Promise<void> => {
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    ended.push(`${name} ${how}`);
  };
  const settle = async (): Promise<void> => end("settled");
  return { staysInDoubt: true, settle, release: async () => end("released"), ...fields };
}

const failing = reservation("failing", {
  settle: async () => Promise.reject(new Error("the table is unavailable")),
  release: async () => Promise.reject(new Error("the table is unavailable")),
});

it.each([
  ["settled", async () => "accepted"],
  ["released", async () => Promise.reject(new ApiError("INSUFFICIENT_BALANCE"))],
])("all reservations are %s before the call ends, also if one cannot be", async (how, accept) => {
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  ended.length = 0;
  await endBy([failing, reservation("one"), reservation("other")], accept()).catch(() => undefined);
  expect(ended).toEqual([`one ${how}`, `other ${how}`]);
});

it("only those that stay in doubt are kept if the messages may have been charged", async () => {
  ended.length = 0;
  const reserved = [reservation("place", { staysInDoubt: false }), reservation("budget")];
  const error = new ApiError("UNAVAILABLE");
  await expect(endBy(reserved, Promise.reject(error))).rejects.toBe(error);
  expect(ended).toEqual(["place released"]);
});

it("those of before and of the same time are released if one is rejected, with the first error", async () => {
  ended.length = 0;
  const first = new ApiError("KEY_BUDGET_REACHED");
  const reserving = [
    Promise.reject(first),
    Promise.resolve([reservation("destination")]),
    Promise.reject(new ApiError("DESTINATION_NOT_ALLOWED")),
  ];
  await expect(reserveAll(reserving, [reservation("place")])).rejects.toBe(first);
  expect(ended).toEqual(["place released", "destination released"]);
});
