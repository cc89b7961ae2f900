import { openApi } from "../src/http/openapi.ts";
import { configurationMarkdown } from "../src/program/settings/mod.ts";
import { VERSION } from "../src/wire/version.ts";
import { commandLineMarkdown } from "./generate/cli.ts";
import { errorsMarkdown } from "./generate/errors.ts";
import { formatted } from "./generate/markdown.ts";
import { protocolMarkdown } from "./generate/protocol.ts";
import { routesMarkdown } from "./generate/routes.ts";
import { toolDefinitions } from "./generate/tools.ts";

/** A page of the documentation that is made from the source. */
export interface GeneratedPage {
  /** Path from the root of the project. */
  readonly path: string;
  /** Its content. */
  readonly render: () => string | Promise<string>;
}

/** Every generated page. */
export const PAGES: readonly GeneratedPage[] = [
  { path: "docs/configuration.md", render: () => formatted(configurationMarkdown()) },
  {
    path: "docs/openapi.json",
    render: () => JSON.stringify(openApi(VERSION), null, 2) + "\n",
  },
  { path: "docs/cli.md", render: commandLineMarkdown },
  { path: "docs/errors.md", render: errorsMarkdown },
  { path: "docs/protocol.md", render: protocolMarkdown },
  { path: "docs/routes.md", render: routesMarkdown },
  { path: "src/wire/tool_definitions.json", render: toolDefinitions },
];

if (import.meta.main) {
  for (const { path, render } of PAGES) {
    await Deno.writeTextFile(new URL(`../${path}`, import.meta.url), await render());
  }
}
