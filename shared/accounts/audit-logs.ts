import { listWallets } from "../money/wallet/record.ts";
import { sealAuditLog } from "../tenancy/audit-log/seals.ts";

/** Logs that are sealed at the same time. */
const togetherCount = 25;

/** Seals what is new in the logs of the stage and of all organizations. @returns the number of sealed entries */
export async function sealAuditLogs(): Promise<number> {
  let sealed = await sealAuditLog(undefined);
  let together: Promise<number>[] = [];
  const wait = async (): Promise<void> => {
    for (const count of await Promise.all(together)) sealed += count;
    together = [];
  };
  for await (const organizationId of listWallets()) {
    together.push(sealAuditLog(organizationId));
    if (together.length === togetherCount) await wait();
  }
  await wait();
  return sealed;
}
