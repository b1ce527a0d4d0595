import * as z from "zod/mini";

import { outputNames } from "../constructs/stack-outputs.ts";
import { releaseText } from "../release.ts";
import { command } from "./command.ts";
import { listOf } from "./output.ts";

const version = command({
  name: "version",
  summary: "Show which version and commit is deployed, and which is here",
  details: "The health check says the version alone, which the commits between two releases share.",
  examples: ["", "--stage prod"],
  input: z.object({}),
  run: async (_, { output, stackOutput }) => {
    const [deployed, here] = [stackOutput(outputNames.release).value, releaseText()];
    output.result({ deployed, here }, listOf({ Deployed: deployed, Here: here }));
  },
});

export const versionCommands = [version];
