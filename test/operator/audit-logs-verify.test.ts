import { afterEach, expect, it, vi } from "vitest";

import { sealAuditLogs } from "../../shared/accounts/audit-logs.ts";
import { dayMs } from "../../shared/platform/clock.ts";
import { writeAuditEntry, writeAuditOutcome } from "../../shared/platform/table/audit-log.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { damage } from "../support/items.ts";
import { operator, outputOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";

const { register } = useOperatedGateway();

afterEach(() => {
  vi.useRealTimers();
});

it("names the differences of each log, continues after an unreadable one, and exits with 1", async () => {
  const [late, unreadable] = [(await register()).organizationId, (await register()).organizationId];
  const actor = { type: "operator", identity: "ada" } as const;
  const entry = await writeAuditEntry({ organizationId: late, actor, action: "wallets credit" });
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 1.5 * dayMs });
  await outputOf("version");
  await sealAuditLogs();
  expect(await outputOf("audit-logs verify")).toContain("3 logs verified, 0 wrong");
  await writeAuditOutcome(entry, { outcome: "done" });
  expect(await outputOf(`audit-logs verify ${late}`)).toContain(
    `sealed  ok\n    ${entry.id}: late outcome\n`,
  );
  await damage(keys.seal(unreadable, 1), { hash: 0 });
  const { code, out } = await operator(`audit-logs verify ${unreadable} ${late}`);
  expect(code).toBe(1);
  expect(out).toMatch(/ 0 sealed {2}WRONG\n {4}\d+: unreadable\n.* sealed {2}ok\n/);
  expect(out).toContain("2 logs verified, 1 wrong");
});
