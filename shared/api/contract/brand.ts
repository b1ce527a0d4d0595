import * as z from "zod/mini";

import { EmailAddress } from "./email-addresses.ts";

const Color = z.string().check(z.regex(/^#[0-9a-f]{6}$/i, "must be a color such as #17633f"));

const PageUrl = z
  .url({ protocol: /^https$/, error: "must be an https address" })
  .check(z.maxLength(300, "must be at most 300 characters long"));

/** The name and the look that customers see, and where they find help. */
export const Brand = z.strictObject({
  name: z._default(
    z
      .string()
      .check(
        z.regex(
          /^[\p{L}\p{N}][\p{L}\p{M}\p{N} .,&'()+-]{0,39}$/u,
          "must be up to 40 letters, digits and spaces, and begin with a letter or a digit",
        ),
      ),
    "SMS gateway",
  ),
  /** The color of links and buttons, on light and on dark pages. */
  colors: z._default(z.strictObject({ light: Color, dark: Color }), { light: "#17633f", dark: "#6fd3a2" }),
  supportEmail: z.optional(EmailAddress),
  termsUrl: z.optional(PageUrl),
  privacyUrl: z.optional(PageUrl),
});

/** The soft version of the brand's color on light and on dark pages: a share of the color, mixed into a base in sRGB. */
export const softAccents = {
  light: { share: 0.12, base: "#ffffff" },
  dark: { share: 0.18, base: "#0e1412" },
} as const;

/** The files of a brand that an operator may provide. */
export const BrandImage = z.enum(["card.png", "icon.svg", "logo.svg"]);
export type BrandImage = z.infer<typeof BrandImage>;

/** A brand as functions know it, with the images that the stage provides. */
export const PublishedBrand = z.extend(Brand, { images: z.array(BrandImage) });
export type PublishedBrand = z.infer<typeof PublishedBrand>;

export const BrandFileParams = z.object({ file: z.enum([...BrandImage.options, "theme.css"]) });
export type BrandFile = z.infer<typeof BrandFileParams>["file"];

/** The text of a page or a style sheet, or the bytes of an image. */
export const BrandContent = z.string();
