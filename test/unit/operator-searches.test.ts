import { expect, it, vi } from "vitest";

import { guardAgainstLookAlikes } from "../../infra/operator/look-alikes.ts";
import { Output } from "../../infra/operator/output.ts";

const howMany = 100_030;
const senderIds: object[] = [
  { organizationId: `org_${howMany}`, id: "sid_1", senderId: "LIGHTHOUSE", status: "approved" },
];

vi.mock("../../shared/money/wallet/record.ts", async (original) => ({
  ...(await original<object>()),
  listWallets: async function* () {
    for (let index = 1; index <= howMany; index += 1) yield `org_${index}`;
  },
}));
vi.mock("../../shared/messages/sender-ids/record.ts", async (original) => ({
  ...(await original<object>()),
  readSenderIds: async (id: string) => (id === `org_${howMany}` ? senderIds : []),
}));
vi.mock("../../shared/tenancy/organizations/record.ts", async (original) => ({
  ...(await original<object>()),
  findOrganization: async () => undefined,
}));

it("an approval compares the sender IDs of all organizations, so that it needs no flag on a large stage", async () => {
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const guard = async (senderId: string): Promise<void> =>
    guardAgainstLookAlikes(
      { organizationId: "org_1", senderId, areAccepted: false },
      { output: new Output(true) },
    );
  await expect(guard("L1GHTHOUSE")).rejects.toThrow("L1GHTHOUSE resembles 1 name.");
  await expect(guard("MEADOW")).resolves.toBeUndefined();
});
