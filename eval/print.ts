const encoder = new TextEncoder();

/** Writes lines to standard output. */
export function print(...lines: readonly string[]): void {
  Deno.stdout.writeSync(encoder.encode(lines.map((line) => `${line}\n`).join("")));
}
