/** What failed, in its own words and in one line. */
export function reasonOf(thrown: unknown): string {
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  return said.split("\n", 1)[0]!.split(", run again", 1)[0]!;
}
