import manifest from "../../deno.json" with { type: "json" };

/** Version of the program. */
export const VERSION: string = manifest.version;
