// Types that every plugin of the chain exports besides its own.
export type * from "../../../src/interfaces/mod.ts";
export type * from "../../../src/interfaces/plugin.ts";
export type { SuiNetwork } from "../../../src/wire/networks.ts";
