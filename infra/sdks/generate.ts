import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { apiVersion } from "../../shared/contract/version.ts";
import { projectRoot } from "../project-root.ts";
import { generatorDocument } from "./generator-document.ts";
import { sdkContract } from "./operations.ts";

const run = promisify(execFile);

/** The languages whose SDKs openapi-generator writes. */
export const generatedLanguages = ["go", "java", "php"] as const;

const generator = {
  version: "7.24.0",
  sha256: "4b83ccc6fd43056c8c631cd0195e5100bd0550912502527bab09ac76152dab0c",
};
const programsFolder = path.join(projectRoot, ".build/openapi-generator");
const sdksFolder = path.join(projectRoot, ".build/sdks");

/**
 * Generates the SDK of a language into `.build/sdks/<language>`. It needs Java, and Maven to get the generator.
 * @returns the folder
 */
export async function generateSdk(language: (typeof generatedLanguages)[number]): Promise<string> {
  const jar = await generatorJar();
  const folder = path.join(sdksFolder, language);
  const document = path.join(sdksFolder, `${language}.openapi.json`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(sdksFolder, { recursive: true });
  await writeFile(document, JSON.stringify(generatorDocument(sdkContract())));
  const config = path.join(import.meta.dirname, "generators", `${language}.json`);
  const options = ["-g", language, "-i", document, "-o", folder, "-c", config];
  const versions = `${language === "go" ? "packageVersion" : "artifactVersion"}=${apiVersion}`;
  const parts = "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false";
  await run(
    "java",
    ["-jar", jar, "generate", ...options, `--additional-properties=${versions}`, "--global-property", parts],
    { maxBuffer: 64 * 1_024 * 1_024 },
  );
  const readme = await readFile(path.join(import.meta.dirname, "generators", `${language}.md`), "utf8");
  await writeFile(path.join(folder, "README.md"), readme.replaceAll("{{version}}", apiVersion));
  return folder;
}

/** Returns the program from Maven Central. @throws Error if its content is not what the project was tested with */
async function generatorJar(): Promise<string> {
  const name = `openapi-generator-cli-${generator.version}.jar`;
  const jar = path.join(programsFolder, name);
  const isPresent = await readFile(jar).then(isExpected, () => false);
  if (isPresent) return jar;
  const artifact = `org.openapitools:openapi-generator-cli:${generator.version}`;
  const options = [`-Dartifact=${artifact}`, `-DoutputDirectory=${programsFolder}`];
  await run("mvn", ["--batch-mode", "--quiet", "dependency:copy", ...options]);
  if (!isExpected(await readFile(jar))) throw new Error(`${name} has another checksum`);
  return jar;
}

function isExpected(content: Buffer): boolean {
  return createHash("sha256").update(content).digest("hex") === generator.sha256;
}
