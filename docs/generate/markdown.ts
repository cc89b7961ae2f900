/** A cell of a table, on one line. */
function cell(text: string): string {
  return text.replace(/\s+/g, " ").replaceAll("|", "\\|");
}

/** A table in Markdown; the first row is its head. */
export function table(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows.map((row) => `| ${row.map(cell).join(" | ")} |`);
  const line = `| ${rows[0]?.map(() => "---").join(" | ")} |`;
  return [head, line, ...body].join("\n");
}

/** Text as code; nothing for nothing. */
export function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}

/** Markdown, or code, as `deno fmt` leaves it. */
export async function formatted(text: string, kind: "md" | "ts" = "md"): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--ext", kind, "-"],
    cwd: new URL("../../", import.meta.url),
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
  const { success, stdout } = await child.output();
  if (!success) throw new Error("deno fmt failed");
  return new TextDecoder().decode(stdout);
}
