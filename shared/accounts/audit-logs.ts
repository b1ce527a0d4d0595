import { listWallets } from "../money/wallet/record.ts";
import { log } from "../platform/log.ts";
import { auditLogOf } from "../platform/table/audit-log.ts";
import { sealAuditLog } from "../tenancy/audit-log/seals.ts";

/** Logs that are sealed at the same time. */
const togetherCount = 25;

/**
 * Seals what is new in the logs of the stage and of all organizations.
 * @returns the number of sealed entries
 * @throws Error if any log could not be sealed, after all others were
 */
export async function sealAuditLogs(): Promise<number> {
  let [sealed, failed] = [0, 0];
  const seal = async (organizationId: string | undefined): Promise<void> => {
    try {
      const count = await sealAuditLog(organizationId);
      sealed += count;
    } catch (error) {
      failed += 1;
      log.error("audit_log.not_sealed", { organizationId: auditLogOf(organizationId), error });
    }
  };
  await seal(undefined);
  let together: Promise<void>[] = [];
  for await (const organizationId of listWallets()) {
    together.push(seal(organizationId));
    if (together.length < togetherCount) continue;
    await Promise.all(together);
    together = [];
  }
  await Promise.all(together);
  if (failed > 0) throw new Error(`${failed} audit logs were not sealed`);
  return sealed;
}
