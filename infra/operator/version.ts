import * as z from "zod/mini";

import { outputNames } from "../constructs/stack-outputs.ts";
import { releaseText } from "../release.ts";
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
