import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import type { MemoryLink } from "../../src/interfaces/mod.ts";
import type { AcceptedJob } from "../../src/jobs/job.ts";
import type { Domain } from "../../src/memory/domain.ts";
import { getMemory, listMemories } from "../../src/memory/list.ts";
import { exportLines } from "../../src/memory/portable/export.ts";
import { type ImportedMemory, importMemories } from "../../src/memory/portable/import.ts";
import { recall } from "../../src/memory/recall/recall.ts";
import { restore } from "../../src/memory/restore.ts";
import { writtenStanding } from "../../src/memory/standing.ts";
import { NAMESPACES, OWNER } from "./simulated_world.ts";
import type { Bounds, Clients, Found } from "./told.ts";

export const CALLER = { account: OWNER, credential: { delegateKey: "key" } };
/** Longer than any simulated wait. */
const PATIENT_MS = 2_000_000_000;
const MODES = ["hybrid", "semantic", "keyword"] as const;
/** Memories of an export that are imported together. */
const MOST_LINES = 8;

/** A line of an export. Times are RFC 3339. */
interface ExportLine {
  readonly type: string;
  readonly memory_id: string;
  readonly namespace: string;
  readonly text?: string;
  readonly version?: number;
  readonly importance: number;
  readonly memories: number;
  readonly errors: number;
  readonly occurred_at: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly valid_to?: string;
  readonly key?: string;
  readonly links?: readonly MemoryLink[];
}

/** What a client reads with, and how it chooses. */
export interface Reading {
  readonly domain: Domain;
  readonly clients: Clients;
  readonly random: () => number;
  readonly trace: (line: string) => void;
  /** Whether nothing that it calls may fail. */
  readonly isSound: boolean;
  /** Whether a text may be one that cannot be embedded. */
  readonly mayRefuse: boolean;
}

function bounds({ domain, clients }: Reading, namespaces: readonly string[]): Bounds {
  return clients.bounds(namespaces, domain.jobs.liveOf(OWNER.owner));
}

function waiting(domain: Domain, recallWaitMs: number): Domain {
  return { ...domain, config: { ...domain.config, recallWaitMs } };
}

function pick<T>(random: () => number, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)]!;
}

/** Recalls everything in a namespace, by meaning, by words or both. */
export async function recallAll(reading: Reading, namespace: string): Promise<void> {
  const { domain, clients, random, trace, isSound, mayRefuse } = reading;
  const mode = pick(random, MODES);
  const wait = pick(random, [0, 2_000, PATIENT_MS]);
  const isLarge = random() < 0.2;
  trace(`recall ${namespace} ${mode} ${wait}${isLarge ? " large" : ""}`);
  const before = bounds(reading, [namespace]);
  const wasEmbedding = domain.reembedding.active;
  // What is over is there all the same.
  const history = clients.said !== undefined;
  const asked = { namespace, limit: 100, mode, history };
  const parts = {
    ...waiting(domain, wait),
    // As where the scope does not fit into RAM.
    ...(isLarge ? { largeScopes: { has: () => Promise.resolve(true) } } : {}),
  };
  const answer = await recall(parts, CALLER, "memory", asked);
  const { results, dropped, pending, truncated } = answer;
  trace(
    `recalled ${mode} ${results.length} of ${namespace}, ${pending} pending, ${dropped} dropped`,
  );
  assert.ok(!truncated);
  if (isSound) assert.equal(dropped, 0, "a hit cannot be opened");
  const isEmbedding = wasEmbedding || domain.reembedding.active;
  if (wait === PATIENT_MS && isSound && !isEmbedding) assert.equal(pending, 0, "it did not wait");
  const found = results.map(({ memoryId: id, text }) => ({ id, text }));
  const byWords = mode === "keyword" && !isLarge;
  // What cannot be opened for now is not found by words, what is not embedded by nothing else.
  const isPartial = byWords ? !isSound : mayRefuse || (isEmbedding && pending > 0);
  const lacking = isPartial || (isLarge && !isSound) ? Infinity : dropped;
  clients.check(found, before, { waited: pending === 0, missing: lacking, shows: !isLarge });
}

/** Lists a namespace. */
export async function listAll(reading: Reading, namespace: string): Promise<void> {
  const { domain, clients, random, trace, isSound } = reading;
  const order = pick(random, ["newest", "oldest"] as const);
  trace(`list ${namespace}`);
  const before = bounds(reading, [namespace]);
  const { memories } = await listMemories(domain, CALLER, {
    namespace,
    limit: 200,
    order,
    include: clients.said === undefined ? "present" : "history",
    text: random() < 0.8,
  });
  trace(`listed ${memories.length} of ${namespace}`);
  if (isSound) assert.ok(memories.every(({ textError }) => textError === undefined));
  const found = memories.map(({ memoryId: id, text, version }) => ({ id, text, version }));
  clients.check(found, before, { waited: false, missing: 0, shows: true });
}

/** Reads one memory with its versions. */
export async function getOne(reading: Reading, id: string): Promise<void> {
  const { domain, clients, trace } = reading;
  const { namespace } = clients.of(id)!;
  trace(`get ${id}`);
  const before = bounds(reading, [namespace]);
  const only = { ...before, floors: new Map([[id, before.floors.get(id) ?? 0]]) };
  const read = { waited: false, missing: 0, shows: false };
  const check = (found: readonly Found[]) => clients.check(found, only, read);
  const got = await getMemory(domain, CALLER, id).catch((error) => {
    trace(`not got ${id}: ${error}`);
    if (SvcError.from(error).code !== "memory_not_found") throw error;
  });
  if (got === undefined) return check([]);
  const { memory, versions } = got;
  const numbers = versions.map(({ version }) => version);
  const sorted = [...new Set(numbers)].sort((a, b) => b - a);
  assert.deepEqual(numbers, sorted, `versions of ${id}`);
  // One that is not indexed yet has no version of which something is seen.
  if (numbers.length > 0) return check([{ id, text: memory.text, version: memory.version }]);
  assert.ok(!before.gone.has(id), `${id} was deleted and is shown`);
}

/** Exports a namespace, or all; answers the memories. */
export async function exportAll(
  reading: Reading,
  namespace: string | undefined,
): Promise<ExportLine[]> {
  const { domain, clients, trace, isSound } = reading;
  trace(`export ${namespace}`);
  const before = bounds(reading, namespace === undefined ? NAMESPACES : [namespace]);
  let text = "";
  for await (
    const part of exportLines(waiting(domain, PATIENT_MS), CALLER, {
      namespace,
      history: false,
    })
  ) {
    text += part;
  }
  const lines = text.trim().split("\n").map((line): ExportLine => JSON.parse(line));
  const memories = lines.filter(({ type }) => type === "memory");
  const errors = lines.filter(({ type }) => type === "error");
  trace(`exported ${memories.length} of ${namespace}`);
  const [end] = lines.slice(-1);
  assert.deepEqual([lines[0]?.type, end?.type], ["header", "end"]);
  assert.deepEqual([end?.memories, end?.errors], [memories.length, errors.length]);
  if (isSound) assert.equal(errors.length, 0, "a memory cannot be exported");
  for (const line of memories) if (line.text) clients.said?.checkLine(line.text, line);
  const found = memories.map(({ memory_id: id, text, version }) => ({ id, text, version }));
  // An export of all namespaces waits for those alone that have a memory when it begins.
  const waited = namespace !== undefined;
  clients.check(found, before, { waited, missing: errors.length, shows: false });
  return memories;
}

function imported(line: ExportLine, i: number): ImportedMemory {
  const { memory_id: memoryId, namespace, text = "", version = 1, importance, key } = line;
  const validTo = line.valid_to === undefined ? undefined : Date.parse(line.valid_to);
  return {
    isEarlier: false,
    line: i + 1,
    namespace,
    text,
    memoryId,
    version,
    importance,
    occurredAt: Date.parse(line.occurred_at),
    createdAt: Date.parse(line.created_at),
    updatedAt: Date.parse(line.updated_at),
    key,
    standing: writtenStanding({ valid_to: validTo }, line.links),
  };
}

/** Imports some memories of an earlier export. */
export async function importSome(
  reading: Reading,
  exported: readonly ExportLine[],
): Promise<void> {
  const { domain, clients, random, trace } = reading;
  const bringBack = random() < 0.2;
  const from = Math.floor(random() * exported.length);
  const lines = exported.slice(from, from + MOST_LINES).map(imported);
  trace(`import ${lines.map(({ memoryId, version }) => `${memoryId} ${version}`)}`);
  const before = bounds(reading, NAMESPACES);
  const { refused } = clients;
  const answers: (() => void)[] = [];
  const answering = (jobs: readonly AcceptedJob[]) => {
    for (const job of jobs) {
      const { memoryId, version } = job;
      const line = lines.find(({ occurredAt }) => occurredAt === job.occurredAt)!;
      if (line.memoryId !== memoryId) {
        clients.said?.moved(line.memoryId!, memoryId);
        // What is damaged is stored again.
        const isSure = !bringBack && clients.refused === refused;
        if (isSure) clients.checkBeside(line.memoryId!, version, line.text);
      }
      trace(`imports ${memoryId} version ${version}${bringBack ? " back" : ""}`);
      // What was not indexed when its namespace was forgotten comes back under its own id.
      if (bringBack) clients.broughtBack(memoryId);
      else assert.ok(!before.gone.has(memoryId), `${memoryId} was deleted and is imported`);
      const floor = before.floors.get(memoryId) ?? 0;
      assert.ok(version > floor, `${memoryId} is ${floor}, and ${version} is imported`);
      answers.push(clients.accepting(job, true));
    }
    return { answer: undefined, mutations: [] };
  };
  await importMemories(domain, CALLER, lines, { bringBack, answering, secrets: undefined });
  for (const answered of answers) answered();
}

/** Restores a namespace. */
export async function restoreSome(
  { domain, random, trace }: Reading,
  namespace: string,
): Promise<void> {
  const limit = pick(random, [1, 50]);
  trace(`restore ${namespace} ${limit}`);
  const counts = await restore(domain, CALLER, namespace, limit);
  const { restored, skipped, failed, remaining, total } = counts;
  trace(`restored ${restored} of ${total} in ${namespace}`);
  assert.equal(restored + skipped + failed + remaining, total);
  assert.ok(restored >= 0 && skipped >= 0, "a restore miscounted");
}

/** Checks that of a namespace exactly what is not over is present. */
export async function checkPresent({ domain, clients }: Reading, namespace: string): Promise<void> {
  const listed = async (include: "present" | "history") => {
    const asked = { namespace, limit: 10_000, order: "oldest", include, text: true } as const;
    return (await listMemories(domain, CALLER, asked)).memories;
  };
  const all = await listed("history");
  const present = await listed("present");
  const memories = await Promise.all(
    all.map(async ({ memoryId: id, text = "", createdAt, updatedAt }) => {
      const { links = [] } = await getMemory(domain, CALLER, id);
      const named = links.filter(({ kind }) => kind === "supersedes").map((link) => link.id);
      return { id, text, named, createdAt, updatedAt };
    }),
  );
  clients.said?.checkPresent(
    memories,
    present.map(({ memoryId }) => memoryId),
    domain.now(),
  );
}
