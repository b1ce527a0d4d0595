/**
 * The list prices of AWS in us-east-1, in US dollars, without the free tier and without discounts. Check them again before
 * a decision depends on them.
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
  /** CloudWatch Logs, a gigabyte taken in, and a gigabyte kept for a month. */
  logGigabyte: 0.5,
  logGigabyteMonth: 0.03,
  /** DynamoDB, a gigabyte kept for a month, and the same for its point-in-time recovery. */
  tableGigabyteMonth: 0.25,
  recoveryGigabyteMonth: 0.2,
  /** X-Ray, a trace that is recorded. */
  trace: 5e-6,
  /** CloudWatch, a month of a metric that an alarm looks at. */
  alarmMetricMonth: 0.1,
  /** CloudWatch, a month of an alarm that combines others. */
  compositeAlarmMonth: 0.5,
  /** CloudWatch, a month of a metric that a function writes. */
  ownMetricMonth: 0.3,
  /** A month of a key of KMS, and of a secret. */
  kmsKeyMonth: 1,
  secretMonth: 0.4,
  /** WAF, a month of a web ACL, and of each of its rules. */
  webAclMonth: 5,
  webAclRuleMonth: 1,
} as const;
