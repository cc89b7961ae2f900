/** A line of an export. */
export interface Line {
  readonly text?: string;
  readonly [member: string]: unknown;
}

/** The first line of an export. */
export const HEADER = {
  type: "header",
  format: "svc-export/1",
  owner: "0x1",
  exported_at: "2026-01-01T00:00:00.000Z",
};

/** Lines as the text of a file. */
export const ndjson = (lines: readonly (Line | string)[]): string =>
  lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");

/** A whole export of so many memories. */
export function exportOf(memories: number): string {
  const lines = Array.from({ length: memories }, (_, i) => ({
    type: "memory",
    memory_id: `11111111-2222-4333-8444-${String(i).padStart(12, "0")}`,
    namespace: i % 2 === 0 ? "home" : "work",
    text: `Memory number ${i}`,
    version: 1,
    created_at: "2026-01-01T00:00:00.000Z",
    updated_at: "2026-01-01T00:00:00.000Z",
  }));
  return ndjson([HEADER, ...lines, { type: "end", memories, errors: 0 }]);
}
