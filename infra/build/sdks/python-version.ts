import { apiVersion } from "../../../shared/api/contract/version.ts";

/** The version as Python writes it: `0.5.0-dev.0` is `0.5.0.dev0`. */
export const pythonVersion = apiVersion.replace("-dev.", ".dev");
