import { releaseText } from "@sms-gateway/build/release/release.ts";
import { outputNames } from "@sms-gateway/stack/constructs/stack-outputs.ts";
import * as z from "zod/mini";

import { command } from "./command.ts";
import { listOf } from "./output.ts";

export const showVersion = command({
  name: "version",
  summary: "Show the version and commit of the deployed gateway and of this command-line interface",
  examples: ["", "--stage prod"],
  input: z.object({}),
  run: async (_, { output, stackOutput }) => {
    const [deployed, here] = [stackOutput(outputNames.release).value, releaseText()];
    output.result({ deployed, here }, listOf({ Deployed: deployed, Here: here }));
  },
});
