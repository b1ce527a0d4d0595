/**
 * The pending-work index lists the few items that background work has to visit, by their keys alone. The field `agenda`
 * names the work and its shard, `lookAt` the time (ISO 8601). An item in the index costs one more write when these two fields
 * change.
 *
 * ```
 * | items                                            | agenda              | lookAt        |
 * | ------------------------------------------------ | ------------------- | ------------- |
 * | wallets whose ledger is not settled              | SETTLE#<shard>      | when the oldest change is old enough |
 * | days whose counts are not final                  | CLOSE-DAY#<shard>   | when to count the day |
 * | payments that are not final                      | PAYMENT#<shard>     | when to read them at the provider |
 * | organizations without a verified email, on stages that require it | EXPIRE-ACCOUNT#<shard> | a week after the registration |
 * ```
 */
export const pendingWorkIndex = { name: "agenda", partitionKey: "agenda", sortKey: "lookAt" } as const;
