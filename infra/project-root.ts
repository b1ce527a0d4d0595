import { fileURLToPath } from "node:url";

/** The folder that the project is in. */
export const projectRoot = fileURLToPath(new URL("..", import.meta.url));
