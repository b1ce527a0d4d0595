/**
 * What AWS charges in us-east-1, in US dollars, without the free tier and without discounts. The figures are its list
 * prices; look them up again before a decision hangs on them.
 */
export const prices = {
  /** The month in which they were the list prices. */
  asOf: "2026-11",
  /** DynamoDB on demand, a write and a read request unit, as they are since November 2024. */
  writeUnit: 0.625e-6,
  readUnit: 0.125e-6,
  /** SQS standard queues, a request of up to 64 KB. */
  queueRequest: 0.4e-6,
  /** Lambda on arm64. */
  lambdaCall: 0.2e-6,
  lambdaGigabyteSecond: 0.0000133334,
  /** API Gateway's HTTP API, a request of up to 512 KB. */
  httpRequest: 1e-6,
  /** CloudWatch Logs, a gigabyte taken in. */
  logGigabyte: 0.5,
} as const;
