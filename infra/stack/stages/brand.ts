import { createHash } from "node:crypto";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { projectRoot } from "@sms-gateway/build/project-root.ts";

import { BrandImage, type PublishedBrand } from "../../../shared/api/contract/brand.ts";
import { stagesFolder, type Stage } from "./stage.ts";

/** The largest image: pages load them, and a function's code includes them. */
const maxImageBytes = 300 * 1024;

/** Returns the brand of a stage as functions know it. */
export function publishedBrand(stage: Pick<Stage, "brand">): PublishedBrand {
  const { logo, icon, socialCard, ...brand } = stage.brand;
  const files = imageFiles({ logo, icon, socialCard });
  return { ...brand, images: BrandImage.options.filter((name) => files[name] !== undefined) };
}

/**
 * Returns a folder with a bundle and the images of the stage's brand.
 * @throws Error for an image that is missing, too large, or no image
 */
export function withBrandImages(bundle: string, { brand }: Pick<Stage, "brand">): string {
  const images = Object.entries(imageFiles(brand)).map(([name, file]) => [name, readImage(file)] as const);
  if (images.length === 0) return bundle;
  // The folders of other stages and of other code stay, because several processes may synthesize at the same time.
  const folder = path.join(projectRoot, ".build/brands", hashOf(bundle, images));
  cpSync(bundle, folder, { recursive: true });
  for (const [name, content] of images) writeFileSync(path.join(folder, name), content);
  return folder;
}

/** Returns the files of a brand's images, by their public names. */
function imageFiles({
  logo,
  icon,
  socialCard,
}: Partial<Stage["brand"]>): Partial<Record<BrandImage, string>> {
  return {
    ...(socialCard === undefined ? {} : { "card.png": socialCard }),
    ...(icon === undefined ? {} : { "icon.svg": icon }),
    ...(logo === undefined ? {} : { "logo.svg": logo }),
  };
}

function hashOf(bundle: string, images: readonly (readonly [name: string, content: Buffer])[]): string {
  const hash = createHash("sha256").update(readFileSync(path.join(bundle, "index.mjs")));
  for (const [name, content] of images) hash.update(name).update(content);
  return hash.digest("hex").slice(0, 16);
}

function readImage(name: string): Buffer {
  const file = path.join(stagesFolder(), name);
  const wrong = (problem: string): Error => new Error(`the image ${file} of the brand ${problem}`);
  if (!existsSync(file)) throw wrong("is missing");
  const content = readFileSync(file);
  if (content.length > maxImageBytes) throw wrong(`has more than ${maxImageBytes / 1024} KB`);
  const isImage = name.endsWith(".svg")
    ? /^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<svg[\s>]/s.test(content.toString("utf8"))
    : content.subarray(1, 4).toString("latin1") === "PNG";
  if (!isImage) throw wrong(`is not ${name.endsWith(".svg") ? "an SVG" : "a PNG"} file`);
  return content;
}
