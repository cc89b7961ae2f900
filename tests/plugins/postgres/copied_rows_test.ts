import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { CopiedRows } from "../../../plugins/postgres/copied_rows.ts";

const COLUMNS = { n: "bigint", bytes: "bytea" } as const;
const HEAD = [...new TextEncoder().encode("PGCOPY\n"), 255, 13, 10, 0, 0, 0, 0, 0];
const int16 = (value: number) => [...new Uint8Array(new Uint16Array([value]).buffer).reverse()];
const int32 = (value: number) => [...new Uint8Array(new Uint32Array([value]).buffer).reverse()];
const row = (n: number, bytes: readonly number[] | null) => [
  ...int16(2),
  ...int32(8),
  ...int32(0),
  ...int32(n),
  ...(bytes === null ? int32(-1) : [...int32(bytes.length), ...bytes]),
];
const END = int16(-1);

/** What messages of a copy are read as, and how it ended. */
function read(...chunks: readonly (readonly number[])[]) {
  const rows: unknown[] = [];
  let end: unknown = "not yet";
  const copied = new CopiedRows("select 1", COLUMNS, (row) => rows.push(row));
  copied.callback = (error) => end = error;
  for (const chunk of chunks) copied.handleCopyData({ chunk: Uint8Array.from(chunk) });
  copied.handleCommandComplete();
  copied.handleReadyForQuery();
  return { rows, end };
}

Deno.test("rows of a copy are read, one or several a message", () => {
  const wanted = [
    { n: 1, bytes: Uint8Array.of(1, 2) },
    { n: 2, bytes: null },
    { n: 3, bytes: new Uint8Array() },
  ];
  const [one, two, three] = [row(1, [1, 2]), row(2, null), row(3, [])];
  const head = [...HEAD, ...int32(0)];
  // An extension of the head is skipped.
  const extended = [...HEAD, ...int32(3), 9, 9, 9];
  for (
    const chunks of [
      [[...head, ...one], two, three, END],
      [[...extended, ...one, ...two, ...three, ...END]],
      [head, [...one, ...two], [...three, ...END]],
    ]
  ) assert.deepEqual(read(...chunks), { rows: wanted, end: undefined });
  assert.deepEqual(read([...head, ...END]), { rows: [], end: undefined });
});

Deno.test("what is no row of the copy ends it once the server is done", () => {
  const head = [...HEAD, ...int32(0)];
  const whole = row(1, [1, 2]);
  const wrong = [
    [...head, ...int16(3), ...whole.slice(2)],
    [...head, ...whole.slice(0, -1)],
    [...head, ...whole.slice(0, 9)],
    HEAD,
  ];
  for (const chunk of wrong) {
    const { rows, end } = read(chunk, whole);
    assert.deepEqual(rows, []);
    assert.equal((end as { code: string }).code, "storage_unavailable");
  }
});

Deno.test("bytes of a row are the driver's, of which a slice is a copy", () => {
  const chunk = Buffer.from([...HEAD, ...int32(0), ...row(1, [7, 7])]);
  const rows: { readonly bytes: Uint8Array | null }[] = [];
  new CopiedRows("select 1", COLUMNS, (row) => rows.push(row)).handleCopyData({ chunk });
  const copy = rows[0]?.bytes?.slice();
  chunk.fill(0);
  assert.deepEqual([rows[0]?.bytes, copy], [Uint8Array.of(0, 0), Uint8Array.of(7, 7)]);
});
