/** Measures quality on labelled data: `deno task eval [part …]`, all parts by default. */
import { run as ask } from "./ask.ts";
import { run as duplicates } from "./duplicates.ts";
import { run as extract } from "./extract.ts";

type Part = (args: readonly string[]) => string | Promise<string>;

const PARTS: Readonly<Record<string, Part>> = { ask, duplicates, extract };

const encoder = new TextEncoder();
const names = Deno.args.filter((arg) => !arg.startsWith("--"));
const unknown = names.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  const text = `Unknown part ${unknown.join(", ")}; there are ${Object.keys(PARTS).join(" ")}\n`;
  Deno.stderr.writeSync(encoder.encode(text));
  Deno.exit(2);
}
const flags = Deno.args.filter((arg) => arg.startsWith("--"));
for (const name of names.length === 0 ? Object.keys(PARTS) : names) {
  Deno.stdout.writeSync(encoder.encode(`${await PARTS[name]?.(flags)}\n`));
}
