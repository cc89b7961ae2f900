import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { deserialize } from "node:v8";
import { lancedb } from "../../plugins/lancedb/mod.ts";
import { local } from "../../plugins/local/mod.ts";
import { verifyReceipt } from "../../src/client/mod.ts";
import { DEFAULT_CONFIG } from "../../src/interfaces/config.ts";
import { createRelayer, type Relayer } from "../../src/relayer.ts";
import type { SvcClient } from "../../src/client/mod.ts";
import { openForReading } from "../../src/storage/sqlite/sqlite_file.ts";
import { poll } from "../within.ts";
import { denseEmbedder, piece, quantised } from "./stored_vectors.ts";

/** A piece of what must not be found, long enough to stand nowhere by chance. */
const PIECE = 24;
/** Vectors of a namespace from which LanceDB has an index, and kept ones for which it is made anew. */
const INDEX_ROWS = 150;
const KEPT = 200;

/** A store, and what is put into it. */
export interface Store {
  readonly name: "embedded" | "lancedb";
  readonly records: number;
  readonly bytes: number;
  /** Bytes that the file of the jobs has at least before anything is deleted. */
  readonly jobsBytes: number;
}

async function open(dir: string, name: Store["name"], key: Uint8Array): Promise<Relayer> {
  return await createRelayer({
    dataDir: dir,
    relayerKey: key,
    config: {
      ...DEFAULT_CONFIG,
      maxPendingJobs: 1_000_000,
      // Jobs wait for each other, so that the file grows by what waits.
      jobConcurrency: 8,
      rateLimit: { ...DEFAULT_CONFIG.rateLimit, disabled: true },
    },
    backends: [
      local(),
      { embedder: denseEmbedder() },
      ...name === "lancedb" ? [lancedb({ vectorIndexRows: INDEX_ROWS })] : [],
    ],
  });
}

/** Every file of a folder, as latin1 text, which keeps each byte. */
async function* filesIn(folder: string): AsyncGenerator<[string, Buffer]> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* filesIn(path);
    else {
      const bytes = await Deno.readFile(path).catch(() => new Uint8Array());
      yield [path, Buffer.from(bytes.buffer)];
    }
  }
}

/** Sealed payloads and results among the values of jobs. */
function bytesIn(value: unknown): Uint8Array[] {
  if (value instanceof Uint8Array) return value.length > 100 ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(bytesIn) : [];
}

/** Ciphertexts that stand in the tables now: of blobs, of rows and segments, and of jobs. */
export function ciphertexts(dir: string): Uint8Array[] {
  const found: Uint8Array[] = [];
  const tables = [
    ["blobs.db", "select bytes as value from blob"],
    ["index.db", "select sealed as value from tail union all select sealed from segment"],
    // Not the kept answers: they have ids only, and are for whoever sends the same again.
    [
      "jobs.kv",
      "select v as value from kv where instr(k, 'live') or instr(k, 'step') or instr(k, 'chunk')",
    ],
    ["lancedb/catalog.db", "select sealed as value from tail"],
  ] as const;
  for (const [file, sql] of tables) {
    try {
      using db = openForReading(`${dir}/${file}`);
      for (const { value } of db.prepare(sql).all() as { value: Uint8Array }[]) {
        if (file === "jobs.kv") found.push(...bytesIn(deserialize(value)));
        else found.push(value);
      }
    } catch {
      // This store has no such file.
    }
  }
  return found;
}

/** Pieces out of the middle of each ciphertext, where no head is shared. */
export const piecesOf = (all: readonly Uint8Array[]): Buffer[] =>
  all.map((bytes) => {
    const at = Math.floor(bytes.length / 2);
    return Buffer.from(bytes.slice(at, at + PIECE));
  });

/** Forms in which a text may stand in a file. */
export function formsOf(text: string): Buffer[] {
  const raw = Buffer.from(text);
  return [
    raw,
    Buffer.from(text, "utf16le"),
    Buffer.from(raw.toString("hex")),
    // Wherever it begins in what is encoded.
    ...[0, 1, 2].map((shift) =>
      Buffer.from(Buffer.concat([Buffer.alloc(shift), raw]).toString("base64").slice(4, -4))
    ),
  ];
}

/** Which of the pieces stand in a file of a folder. */
export async function standing(folder: string, pieces: readonly Buffer[]): Promise<string[]> {
  const found: string[] = [];
  for await (const [path, bytes] of filesIn(folder)) {
    // By their first bytes: thousands of pieces are looked for in megabytes.
    const wanted = Map.groupBy(pieces, (piece) => piece.readUInt32LE(0));
    for (let at = 0; at + PIECE <= bytes.length; at++) {
      for (const piece of wanted.get(bytes.readUInt32LE(at)) ?? []) {
        if (bytes.subarray(at, at + piece.length).equals(piece)) found.push(`${path} at ${at}`);
        if (found.length === 10) return found;
      }
    }
  }
  return found;
}

async function filesOfTable(dir: string, part = "data"): Promise<[string, Buffer][]> {
  return await Array.fromAsync(filesIn(`${dir}/lancedb/windows.lance/${part}`)).catch(() => []);
}

/** The files of the vector index that hold vectors. */
async function indexOf(dir: string): Promise<[string, Buffer][]> {
  const files = await filesOfTable(dir, "_indices");
  return files.filter(([path]) => path.endsWith("/auxiliary.idx"));
}

const pathsOf = (files: readonly [string, Buffer][]) => files.map(([path]) => path);

/** Vectors of texts, as they stand or stood in a table and its index. */
class Vectors {
  readonly #dir: string;
  readonly #texts: readonly string[];
  readonly #pieces: Buffer[];

  constructor(dir: string, texts: readonly string[]) {
    this.#dir = dir;
    this.#texts = texts;
    this.#pieces = texts.map(piece);
  }

  /** Their pieces, of every index that was there when this was asked. */
  async pieces(): Promise<Buffer[]> {
    const files = (await indexOf(this.#dir)).map(([, bytes]) => bytes);
    this.#pieces.push(...this.#texts.flatMap(quantised(files)));
    return this.#pieces;
  }

  /** Waits until they stand in table and index; answers the files of both. */
  async stand(): Promise<string[]> {
    const isIn = (found: readonly [string, Buffer][], wanted: readonly Buffer[]) =>
      found.some(([, bytes]) => wanted.some((one) => bytes.includes(one)));
    const first = this.#texts.slice(0, 10);
    return await poll(async () => {
      const [table, index] = [await filesOfTable(this.#dir), await indexOf(this.#dir)];
      const codes = first.flatMap(quantised(index.map(([, bytes]) => bytes)));
      const stands = isIn(table, first.map(piece)) && isIn(index, codes);
      return stands ? pathsOf([...table, ...index]) : [];
    }, (files) => files.length > 0);
  }
}

async function remembered(ada: SvcClient, texts: readonly string[], namespace: string) {
  const ids: string[] = [];
  for (let i = 0; i < texts.length; i += 20) {
    const items = texts.slice(i, i + 20).map((text) => ({ text, namespace }));
    ids.push(...(await ada.rememberBulk(items)).job_ids);
  }
  return ids;
}

/** Writes memories, deletes most of them, and looks for what is left of those in every file. */
async function eraseAndLook({ name, records, bytes, jobsBytes }: Store): Promise<void> {
  const dir = await Deno.makeTempDir();
  const key = crypto.getRandomValues(new Uint8Array(32));
  try {
    const canary = (i: number) => `canary-${i}-${crypto.randomUUID()}`;
    const gone = Array.from({ length: records }, (_, i) => `${canary(i)} tea ${"x".repeat(bytes)}`);
    await using stack = new AsyncDisposableStack();
    let relayer = await open(dir, name, key);
    stack.defer(() => relayer[Symbol.asyncDispose]());
    let ada = await relayer.account("ada");
    const captured: Uint8Array[] = [];
    const capture = () => captured.push(...ciphertexts(dir));
    const ids = await remembered(ada, gone, "gone");
    capture();
    const [one] = await remembered(ada, ["canary of one " + crypto.randomUUID()], "one");
    await ada.updateMemory(one!, { text: "canary of one, corrected " + crypto.randomUUID() });
    await relayer.idle();
    capture();
    const vectors = new Vectors(dir, gone);
    const tableFiles = name === "lancedb" ? await vectors.stand() : [];
    await vectors.pieces();
    const facts = Array.from({ length: KEPT }, (_, i) => `I live in house ${i}`);
    const kept = await remembered(ada, facts, "kept");
    await relayer.idle();

    const { size } = await Deno.stat(`${dir}/jobs.kv`);
    assert.ok(size > jobsBytes, `jobs.kv has ${size} bytes`);
    const deleted = await ada.deleteMemory(one!);
    assert.equal(deleted.deleted, true);
    const forgotten = await ada.forget("gone");
    assert.equal(forgotten.deleted, records);
    assert.deepEqual(new Set(verifyReceipt(forgotten.receipt!).memory_ids), new Set(ids));
    const all = [...ids, one!];
    const issued = await poll(
      async () => {
        const [many, single] = [
          await ada.receipt(ids.slice(0, 1000), "gone"),
          await ada.receipt([one!], "one"),
        ];
        return { erased: many.erased && single.erased, receipt: single.receipt };
      },
      ({ erased }) => erased,
      // Passes keep a distance of twenty times what one takes.
      600_000,
    );
    const { public_key } = await ada.receiptKey();
    assert.deepEqual(verifyReceipt(issued.receipt, public_key).survives, []);

    // Files of a table hold what was deleted from them, until they are written anew.
    const now = pathsOf([...await filesOfTable(dir), ...await indexOf(dir)]);
    const left = new Set(tableFiles).intersection(new Set(now));
    assert.deepEqual([...left], []);
    const pieces = piecesOf(captured);
    assert.ok(pieces.length > records, `${pieces.length} ciphertexts`);
    const words = [...gone.slice(0, 20), gone.at(-1)!].flatMap((text) =>
      formsOf(text.slice(0, 40))
    );
    const look = async () => await standing(dir, [...pieces, ...words, ...await vectors.pieces()]);
    assert.deepEqual(await look(), []);
    // What is left has an index again, and none of what is gone is in it.
    if (name === "lancedb") {
      await poll(() => indexOf(dir), (files) => files.length > 0, 300_000);
      assert.deepEqual(await look(), []);
    }
    // Neither a restart nor a restore brings anything back.
    await relayer[Symbol.asyncDispose]();
    assert.deepEqual(await look(), []);
    relayer = await open(dir, name, key);
    ada = await relayer.account("ada");
    for (const namespace of ["gone", "one"]) {
      assert.equal((await ada.restore(namespace, 500)).restored, 0);
      assert.deepEqual((await ada.recall("canary tea", { namespace })).results, []);
    }
    await assert.rejects(() => ada.memory(all[0]!), { code: "memory_not_found" });
    const { results } = await ada.recall("I live in house 7", { namespace: "kept", limit: 100 });
    assert.equal(results.length, 100);
    assert.ok(results.every(({ memory_id = "" }) => kept.includes(memory_id)));
    assert.deepEqual(await look(), []);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

if (import.meta.main) await eraseAndLook(JSON.parse(Deno.args[0]!));
