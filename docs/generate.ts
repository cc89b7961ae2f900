import { openApi } from "../src/http/openapi.ts";
import { configurationMarkdown } from "../src/program/settings/mod.ts";
import type { RouteRows } from "../src/wire/route.ts";
import { MCP } from "../src/wire/table/mcp.ts";
import { ACCOUNT } from "../src/wire/table/account.ts";
import { MEMORIES } from "../src/wire/table/memories.ts";
import { PORTABLE } from "../src/wire/table/portable.ts";
import { CONSENT } from "../src/wire/table/consent.ts";
import { OAUTH } from "../src/wire/table/oauth.ts";
import { OWNER } from "../src/wire/table/owner.ts";
import { PUBLIC } from "../src/wire/table/public.ts";
import { RECALL } from "../src/wire/table/recall.ts";
import { REMEMBER } from "../src/wire/table/remember.ts";
import { REVIEW } from "../src/wire/table/review.ts";
import { SESSION_TOKEN } from "../src/wire/table/session_token.ts";
import { SPONSOR } from "../src/wire/table/sponsor.ts";
import { VERSION } from "../src/wire/version.ts";
import { commandLineMarkdown } from "./generate/cli.ts";
import { errorsMarkdown } from "./generate/errors.ts";
import { formatted } from "./generate/markdown.ts";
import { protocolMarkdown } from "./generate/protocol.ts";
import { routeTypes } from "./generate/route_types.ts";
import { routesMarkdown } from "./generate/routes.ts";
import { toolDefinitions } from "./generate/tools.ts";

/** A page of the documentation that is made from the source. */
export interface GeneratedPage {
  /** Path from the root of the project. */
  readonly path: string;
  /** Its content. */
  readonly render: () => string | Promise<string>;
}

/** The files of the table of routes, and the interfaces that are made of them. */
const TABLES: readonly (readonly [file: string, name: string, rows: RouteRows])[] = [
  ["mcp.ts", "McpRoutes", MCP],
  ["memories.ts", "MemoryRoutes", MEMORIES],
  ["account.ts", "AccountRoutes", ACCOUNT],
  ["portable.ts", "PortableRoutes", PORTABLE],
  ["oauth.ts", "OAuthRoutes", OAUTH],
  ["consent.ts", "ConsentRoutes", CONSENT],
  ["owner.ts", "OwnerRoutes", OWNER],
  ["public.ts", "PublicRoutes", PUBLIC],
  ["recall.ts", "RecallRoutes", RECALL],
  ["remember.ts", "RememberRoutes", REMEMBER],
  ["review.ts", "ReviewRoutes", REVIEW],
  ["session_token.ts", "SessionTokenRoutes", SESSION_TOKEN],
  ["sponsor.ts", "SponsorRoutes", SPONSOR],
];

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
  ...TABLES.map(([file, name, rows]) => ({
    path: `src/wire/route_types/${file}`,
    render: () => routeTypes(name, file, rows),
  })),
];

if (import.meta.main) {
  for (const { path, render } of PAGES) {
    await Deno.writeTextFile(new URL(`../${path}`, import.meta.url), await render());
  }
}
