import type { FunctionHost } from "../../infra/local/function-host.ts";
import type { LocalGateway } from "../../infra/local/gateway.ts";
import { graceMs } from "../../shared/money/wallet/settlement.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import type { Fault } from "./faults.ts";

/** A gateway's function, by a part of its name that no other has. */
export function functionNamed(gateway: LocalGateway, part: string): FunctionHost {
  const found = [...gateway.functions].find(([name]) => name.includes(part))?.[1];
  if (found === undefined) throw new Error(`there is no function ${part}`);
  return found;
}

/** Calls a scheduled function as its rule does: for each shard of its work, side by side. */
export async function runSchedule(gateway: LocalGateway, part: string): Promise<void> {
  const calls = gateway.stack.schedules.filter(({ functionName }) => functionName.includes(part));
  const host = functionNamed(gateway, part);
  const results = await Promise.allSettled(calls.map(async ({ input }) => host.invoke(input ?? {})));
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw new Error(`${part} failed`, { cause: failed.reason });
}

/** Runs the reconciler after the grace period. */
export async function reconcile(gateway: LocalGateway): Promise<void> {
  gateway.advanceClock(graceMs + minuteMs);
  await runSchedule(gateway, "ReconcileWallets");
}

/** Kills the function that makes the request, before the request arrives or after it was executed. */
export function killing(
  gateway: LocalGateway,
  part: string,
  when: "after" | "before",
  killed: () => void = () => undefined,
): Fault {
  return async (request, next) => {
    if (when === "after") await next(request);
    await functionNamed(gateway, part).kill();
    killed();
    throw new Error("the function is gone");
  };
}
