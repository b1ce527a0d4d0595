export interface Stage {
  readonly name: string;
  /** Whether customers may top up over the API, without paying. */
  readonly topUpEnabled: boolean;
  /** Which addresses a webhook may have: see `config.webhookTargets`. */
  readonly webhookTargets: "any" | "public";
  /** Who carries the messages: see `shared/carriers`. */
  readonly carrier: "aws" | "sandbox";
  /** Whether the table outlives the stack and cannot be deleted by mistake. */
  readonly keepData: boolean;
  readonly logRetentionDays: 7 | 90;
  /** Requests a second over all customers, and how many more a short burst may bring. */
  readonly throttle: { readonly rateLimit: number; readonly burstLimit: number };
}

const local: Stage = {
  name: "local",
  topUpEnabled: true,
  webhookTargets: "any",
  carrier: "sandbox",
  keepData: false,
  logRetentionDays: 7,
  throttle: { rateLimit: 1_000, burstLimit: 1_000 },
};

const dev: Stage = { ...local, name: "dev", webhookTargets: "public" };

const prod: Stage = {
  ...dev,
  name: "prod",
  carrier: "aws",
  topUpEnabled: false,
  keepData: true,
  logRetentionDays: 90,
};

const stages: readonly Stage[] = [local, dev, prod];

/** The settings of a stage by its name. */
export function stageNamed(name: string): Stage {
  const stage = stages.find((candidate) => candidate.name === name);
  if (stage === undefined) {
    throw new Error(`there is no stage ${name}, only ${stages.map((each) => each.name).join(", ")}`);
  }
  return stage;
}
