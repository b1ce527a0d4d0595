import { marshall } from "@aws-sdk/util-dynamodb";

type Service = "DynamoDB" | "End User Messaging" | "KMS" | "Secrets Manager" | "SES" | "SQS";

const key = { pk: "A#1", sk: "A" };
const bytes = new Uint8Array([0, 1, 254, 255]);
const values = { ":n": 1, ":s": "text", ":b": bytes, ":set": new Set(["a", "b"]), ":none": undefined };
const TableName = "table";
const QueueUrl = "https://sqs.eu-west-1.amazonaws.com/1/queue";
const md5OfHello = "5d41402abc4b2a76b9719d911017c592";

/** A case for each command of our clients: its service, its input, and a response. */
export const awsCases: [Service, command: string, input: object, response: object][] = [
  [
    "DynamoDB",
    "Get",
    { TableName, Key: key, ConsistentRead: true },
    { Item: { pk: { S: "A" }, raw: { B: "AAH+/w==" }, B: { M: { B: { S: "B" }, BS: { L: [] } } } } },
  ],
  ["DynamoDB", "Get", { TableName, Key: key }, {}],
  ["DynamoDB", "Put", { TableName, Item: { ...key, list: [1, null, { deep: bytes }], big: 2n ** 60n } }, {}],
  [
    "DynamoDB",
    "Update",
    {
      TableName,
      Key: key,
      UpdateExpression: "SET #n = :n",
      ExpressionAttributeNames: { "#n": "n" },
      ExpressionAttributeValues: values,
      ReturnValues: "ALL_NEW",
    },
    {
      Attributes: {
        n: { N: "1.25" },
        set: { NS: ["1", "2"] },
        raws: { BS: ["AAE=", "/w=="] },
        none: { NULL: true },
      },
    },
  ],
  ["DynamoDB", "Delete", { TableName, Key: key, ReturnValuesOnConditionCheckFailure: "ALL_OLD" }, {}],
  [
    "DynamoDB",
    "Query",
    {
      TableName,
      KeyConditionExpression: "pk = :s",
      ExpressionAttributeValues: values,
      ExclusiveStartKey: key,
      Limit: 5,
    },
    {
      Items: [{ pk: { S: "A" } }, { pk: { S: "é\u{1F600}" } }],
      Count: 2,
      LastEvaluatedKey: { pk: { S: "A" } },
    },
  ],
  [
    "DynamoDB",
    "TransactWrite",
    {
      ClientRequestToken: "1",
      TransactItems: [
        { Put: { TableName, Item: { ...key, raw: bytes } } },
        {
          Update: { TableName, Key: key, UpdateExpression: "SET a = :n", ExpressionAttributeValues: values },
        },
        { Delete: { TableName, Key: key } },
        { ConditionCheck: { TableName, Key: key, ConditionExpression: "attribute_exists(pk)" } },
      ],
    },
    {},
  ],
  // A table may be called like a member.
  ...[TableName, "Key", "Items"].map((table): (typeof awsCases)[number] => [
    "DynamoDB",
    "BatchGet",
    { RequestItems: { [table]: { Keys: [key], ConsistentRead: true } } },
    {
      Responses: { [table]: [{ pk: { S: "A" } }] },
      UnprocessedKeys: { [table]: { Keys: [marshall(key)] } },
    },
  ]),
  [
    "SQS",
    "SendMessage",
    { QueueUrl, MessageBody: "hello", DelaySeconds: 5 },
    { MessageId: "1", MD5OfMessageBody: md5OfHello },
  ],
  [
    "SQS",
    "SendMessageBatch",
    {
      QueueUrl,
      Entries: [
        { Id: "0", MessageBody: "hello", MessageGroupId: "g" },
        { Id: "1", MessageBody: "other" },
      ],
    },
    {
      Successful: [{ Id: "0", MessageId: "1", MD5OfMessageBody: md5OfHello }],
      Failed: [{ Id: "1", Code: "InternalError", SenderFault: false }],
    },
  ],
  [
    "KMS",
    "Sign",
    { KeyId: "k", Message: Buffer.from(bytes), MessageType: "RAW", SigningAlgorithm: "ECDSA_SHA_256" },
    {},
  ],
  ["KMS", "GetPublicKey", { KeyId: "k" }, { KeyId: "k" }],
  ["Secrets Manager", "GetSecretValue", { SecretId: "s", VersionId: undefined }, { SecretString: "x" }],
  [
    "Secrets Manager",
    "CreateSecret",
    { Name: "s", SecretString: "x", ClientRequestToken: "1" },
    { VersionId: "1" },
  ],
  [
    "Secrets Manager",
    "PutSecretValue",
    { SecretId: "s", SecretString: "x", ClientRequestToken: "1" },
    { VersionId: "1" },
  ],
  ["Secrets Manager", "DeleteSecret", { SecretId: "s", ForceDeleteWithoutRecovery: true }, { Name: "s" }],
  [
    "SES",
    "SendEmail",
    {
      FromEmailAddress: "a@example.com",
      ConfigurationSetName: undefined,
      Destination: { ToAddresses: ["b@example.com"] },
      Content: { Simple: { Subject: { Data: "s" }, Body: { Text: { Data: "t", Charset: "UTF-8" } } } },
    },
    { MessageId: "1" },
  ],
  [
    "End User Messaging",
    "SendTextMessage",
    { DestinationPhoneNumber: "+1", MessageBody: "x", Context: { a: "b" }, TimeToLive: 5 },
    { MessageId: "1" },
  ],
];
