import { describe, expect, it } from "vitest";

import { deniedPermission } from "../../infra/local/permissions.ts";
import type { Statement } from "../../infra/local/template.ts";

const keysLike = (...patterns: string[]): { "dynamodb:LeadingKeys": string[] } => ({
  "dynamodb:LeadingKeys": patterns,
});

/** Allows an action on items whose key begins with `own`, also beside those of `others`. */
function allow(action: string, own: string, ...others: string[]): Statement {
  return {
    Effect: "Allow",
    Action: [`dynamodb:${action}`],
    Resource: ["arn:aws:dynamodb:us-east-1:000000000000:table/table"],
    Condition: {
      "ForAllValues:StringLike": keysLike(own, ...others),
      "ForAnyValue:StringLike": keysLike(own),
      Null: { "dynamodb:LeadingKeys": "false" },
    },
  };
}

const onItem = (pk: string): unknown => ({ TableName: "table", Key: { pk: { S: pk } } });
const update = (pk: string): unknown => ({ Update: onItem(pk) });
const put = (pk: string): unknown => ({ Put: { TableName: "table", Item: { pk: { S: pk } } } });

describe("a transaction must be allowed", () => {
  const denied = (statements: readonly Statement[], ...writes: unknown[]): string | undefined =>
    deniedPermission(statements, "dynamodb:TransactWriteItems", { TransactItems: writes });

  it("by the key of each write", () => {
    const statements = [allow("UpdateItem", "WALLET#*", "LEDGER#*")];
    expect(denied(statements, update("WALLET#1"))).toBeUndefined();
    // With another write, so that all keys taken together would do.
    expect(denied(statements, update("WALLET#1"), update("LEDGER#1"))).toBe(
      "dynamodb:UpdateItem on LEDGER#*",
    );
  });

  it("by the keys of all writes of an action", () => {
    const apart = [allow("UpdateItem", "ORG#*"), allow("UpdateItem", "KEY#*")];
    expect(denied(apart, update("ORG#1"))).toBeUndefined();
    expect(denied(apart, update("KEY#1"))).toBeUndefined();
    expect(denied(apart, update("ORG#1"), update("KEY#1"))).toBe(
      "dynamodb:UpdateItem on ORG#* and KEY#* in one transaction",
    );
    // A permission for a third write must not replace it.
    const beside = [
      ...apart,
      allow("UpdateItem", "WALLET#*", "ORG#*", "KEY#*"),
      allow("PutItem", "WALLET#*"),
    ];
    expect(denied(beside, update("ORG#1"), update("KEY#1"), put("WALLET#1"))).toBe(
      "dynamodb:UpdateItem on ORG#* and KEY#* in one transaction",
    );
  });

  it("by the keys of all writes", () => {
    const putting = allow("PutItem", "LEDGER#*", "WALLET#*");
    const writes = [update("WALLET#1"), put("LEDGER#1")];
    expect(denied([allow("UpdateItem", "WALLET#*"), putting], ...writes)).toBe(
      "dynamodb:UpdateItem on WALLET#* and LEDGER#* in one transaction",
    );
    expect(denied([allow("UpdateItem", "WALLET#*", "LEDGER#*"), putting], ...writes)).toBeUndefined();
  });
});

it("a call outside of transactions gains no permission from the other families of a transaction", () => {
  const statements = [allow("UpdateItem", "WALLET#*", "LEDGER#*")];
  expect(deniedPermission(statements, "dynamodb:UpdateItem", onItem("WALLET#1"))).toBeUndefined();
  expect(deniedPermission(statements, "dynamodb:UpdateItem", onItem("LEDGER#1"))).toBe(
    "dynamodb:UpdateItem on LEDGER#*",
  );
});

it("a scan has no keys, which a condition on all of them lets pass, and the one on their presence does not", () => {
  const scan = (condition: Statement["Condition"]): string | undefined =>
    deniedPermission([{ ...allow("Scan", "ORG#*"), Condition: condition }], "dynamodb:Scan", {
      TableName: "table",
    });
  const onAll = { "ForAllValues:StringLike": keysLike("ORG#*") };
  expect(scan(onAll)).toBeUndefined();
  expect(scan({ ...onAll, Null: { "dynamodb:LeadingKeys": "false" } })).toBe("dynamodb:Scan on table");
  expect(scan({ ...onAll, "ForAnyValue:StringLike": keysLike("ORG#*") })).toBe("dynamodb:Scan on table");
});

it("an action that no statement names is denied", () => {
  const statements = [allow("GetItem", "ORG#*")];
  expect(deniedPermission(statements, "dynamodb:Scan", { TableName: "table" })).toBe(
    "dynamodb:Scan on table",
  );
  expect(deniedPermission(statements, "dynamodb:BatchGetItem", {})).toBe("dynamodb:BatchGetItem");
  expect(
    deniedPermission(statements, "dynamodb:GetItem", { ...Object(onItem("ORG#1")), TableName: "other" }),
  ).toBe("dynamodb:GetItem on ORG#*");
});

it("a batch of reads is checked by all its keys", () => {
  const batch = (...pks: string[]): object => ({
    RequestItems: {
      table: { Keys: pks.map((pk) => ({ pk: { S: pk }, sk: { S: "x" } })), ConsistentRead: true },
    },
  });
  const statements = [allow("BatchGetItem", "KEY#*", "ORG#*"), allow("GetItem", "WALLET#*")];
  expect(deniedPermission(statements, "dynamodb:BatchGetItem", batch("KEY#1", "ORG#1"))).toBeUndefined();
  expect(deniedPermission(statements, "dynamodb:BatchGetItem", batch("KEY#1", "WALLET#1"))).toBe(
    "dynamodb:BatchGetItem on KEY#* and WALLET#* in one transaction",
  );
  expect(deniedPermission([allow("GetItem", "KEY#*")], "dynamodb:BatchGetItem", batch("KEY#1"))).toBe(
    "dynamodb:BatchGetItem on KEY#*",
  );
});

it("a key may be used for what a role names, by its id and by its ARN, and no other key", () => {
  const arn = "arn:aws:kms:us-east-1:000000000000:key/SessionKey";
  const statements: Statement[] = [{ Effect: "Allow", Action: ["kms:GetPublicKey"], Resource: [arn] }];
  for (const KeyId of ["SessionKey", arn]) {
    expect(deniedPermission(statements, "kms:GetPublicKey", { KeyId })).toBeUndefined();
    expect(deniedPermission(statements, "kms:Sign", { KeyId })).toBe("kms:Sign on SessionKey");
  }
  expect(deniedPermission(statements, "kms:GetPublicKey", { KeyId: "Another" })).toBe(
    "kms:GetPublicKey on Another",
  );
});

it("an object may be read or written in the bucket that a role names, and no other", () => {
  const statements: Statement[] = [
    { Effect: "Allow", Action: ["s3:GetObject"], Resource: ["arn:aws:s3:::Documents/*"] },
  ];
  const denied = (operation: string, Bucket: string): string | undefined =>
    deniedPermission(statements, operation, { Bucket, Key: "org_1/INV-1.pdf" });
  expect(denied("s3:GetObject", "Documents")).toBeUndefined();
  expect(denied("s3:PutObject", "Documents")).toBe("s3:PutObject on Documents/org_1/INV-1.pdf");
  expect(denied("s3:GetObject", "Documents2")).toBe("s3:GetObject on Documents2/org_1/INV-1.pdf");
  expect(denied("s3:ListBucket", "Documents")).toBe("s3:ListBucket on Documents");
  expect(denied("s3:DeleteObject", "Documents")).toBe("s3:DeleteObject");
});

describe("an email may be sent", () => {
  const denied = (identity: string, from: string, allowedFrom = "sms@mail.example.com"): string | undefined =>
    deniedPermission(
      [
        {
          Effect: "Allow",
          Action: ["ses:SendEmail"],
          Resource: [`arn:aws:ses:us-east-1:000000000000:identity/${identity}`],
          Condition: { StringEquals: { "ses:FromAddress": allowedFrom } },
        },
      ],
      "ses:SendEmail",
      { FromEmailAddress: from },
    );

  it.each(["sms@mail.example.com", "mail.example.com", "example.com"])(
    "from an address of the identity %s",
    (identity) => {
      expect(denied(identity, '"SMS gateway" <sms@mail.example.com>')).toBeUndefined();
      expect(denied(identity, "sms@mail.example.com")).toBeUndefined();
    },
  );

  it("with a configuration set only where that is allowed too", () => {
    const statement = (resource: string): Statement => ({
      Effect: "Allow",
      Action: ["ses:SendEmail"],
      Resource: [`arn:aws:ses:us-east-1:000000000000:${resource}`],
      Condition: { StringEquals: { "ses:FromAddress": "sms@example.com" } },
    });
    const identity = statement("identity/example.com");
    const set = statement("configuration-set/transactional");
    const email = { FromEmailAddress: "sms@example.com", ConfigurationSetName: "transactional" };
    expect(deniedPermission([identity, set], "ses:SendEmail", email)).toBeUndefined();
    expect(deniedPermission([identity], "ses:SendEmail", email)).toBe(
      "ses:SendEmail on configuration-set/transactional",
    );
    expect(deniedPermission([set], "ses:SendEmail", email)).toBe("ses:SendEmail on example.com");
    const setNamedLikeIdentity = statement("configuration-set/example.com");
    const plain = { FromEmailAddress: "sms@example.com" };
    expect(deniedPermission([setNamedLikeIdentity], "ses:SendEmail", plain)).toBe(
      "ses:SendEmail on example.com",
    );
  });

  it("from no other address, and no other identity", () => {
    expect(denied("example.com", '"sms@mail.example.com" <eve@mail.example.com>')).toBe(
      "ses:SendEmail on mail.example.com",
    );
    expect(denied("ample.com", "sms@mail.example.com")).toBe("ses:SendEmail on mail.example.com");
  });
});
