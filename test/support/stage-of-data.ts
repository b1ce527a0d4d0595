import type * as z from "zod/mini";

import { StageSettings } from "../../infra/stack/stages/settings.ts";
import { stageNamed, type Stage } from "../../infra/stack/stages/stage.ts";

export const encryptionKeyArn = "arn:aws:kms:eu-west-1:123456789012:key/7f1d";

/** A stage that keeps its data, with some settings. */
export function stageOfData(settings: Partial<z.input<typeof StageSettings>>): Stage {
  const least = { account: "123456789012", region: "eu-west-1", carrier: "sandbox", keepData: true } as const;
  const { policies } = stageNamed("prod");
  return { ...StageSettings.parse({ ...least, policies, ...settings }), name: "blue" };
}
