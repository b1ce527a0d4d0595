import { expect, it } from "vitest";

import { scopesOfRole, type Scope } from "../../shared/api/contract/scopes.ts";
import { CredentialRecord } from "../../shared/tenancy/api-keys/record.ts";

const ids = { keyId: "key_1", organizationId: "org_1", userId: "usr_1" };

it.each<[stored: object, Scope[] | undefined]>([
  [{ scopes: ["send", "read"] }, ["send", "read", "personal"]],
  [{ scopes: ["send"] }, ["send"]],
  [{ scopes: ["read"], mayCharge: true }, ["read", "charge", "personal"]],
  [{ scopes: ["send", "read"], personal: false }, ["send", "read"]],
  [{ scopes: [], personal: true }, ["personal"]],
  [{ scopes: ["send", "read"], test: true }, ["send", "read"]],
  [{}, undefined],
])("a stored key %j has the scopes %j", (stored, scopes) => {
  expect(CredentialRecord.parse({ entity: "credential", ...ids, ...stored }).scopes).toEqual(scopes);
});

it("senders and viewers see no personal data of others", () => {
  const allowed = Object.entries(scopesOfRole).flatMap(([role, scopes]) =>
    scopes.includes("personal") ? role : [],
  );
  expect(allowed).toEqual(["owner", "admin", "billing", "developer"]);
});
