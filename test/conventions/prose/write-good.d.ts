declare module "write-good" {
  /** Returns what a text should not contain. Options switch single checks off. */
  export default function writeGood(
    text: string,
    options?: Readonly<Record<string, boolean>>,
  ): { index: number; offset: number; reason: string }[];
}
