import { configurationMarkdown } from "../src/settings.ts";

/** A page of the documentation that is made from the source. */
export interface GeneratedPage {
  /** Path from the root of the project. */
  readonly path: string;
  /** Its content. */
  readonly render: () => string | Promise<string>;
}

/** Every generated page. */
export const PAGES: readonly GeneratedPage[] = [
  { path: "docs/configuration.md", render: configurationMarkdown },
];

if (import.meta.main) {
  for (const { path, render } of PAGES) {
    await Deno.writeTextFile(new URL(`../${path}`, import.meta.url), await render());
  }
}
