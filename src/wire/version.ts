import manifest from "../../deno.json" with { type: "json" };

/** Version of the program. */
export const VERSION: string = manifest.version;

/** How a person starts the program: by its name, or in a clone of the source. */
export const COMMAND: string = "tasks" in manifest ? "npx -y deno@2.9.6 task -q svc" : "svc";
