import { uniform, unitVector } from "../../bench/statistics.ts";
import { indexBytes } from "../../src/index/budget.ts";
import { ScopeIndex } from "../../src/index/scope_index.ts";
import type { LoadedScope } from "../../src/index/resident_scope.ts";
import type { IndexEntry, ScanPage, Scope } from "../../src/interfaces/mod.ts";
import { turns } from "../within.ts";

const MIB = 1024 * 1024;
const BUDGET = 192 * MIB;
const DIMENSIONS = 512;
const MEMORIES = 1500;
const SCOPES = 180;

const random = uniform(5);
const vectors = Array.from({ length: MEMORIES }, () => unitVector(DIMENSIONS, random));
const payload = new Uint8Array(400).fill(1);

/** The memories of a scope, made when they are asked for. */
function page(scope: Scope): IndexEntry[] {
  return vectors.map((_, i) => memory(scope, i));
}

function memory(scope: Scope, i: number): IndexEntry {
  return {
    ...scope,
    id: `${scope.namespace}-${i}`,
    version: 1,
    vectors: [vectors[i]!],
    payload: payload.slice(),
    keyId: "",
    createdAt: i,
    updatedAt: i,
    importance: 0.5,
    source: "remember",
    bytes: 400,
  };
}

const PAGE = 128;
/** Scopes that are read at once, of so many memories: three fit. */
const AT_ONCE = 8;
const MANY = 9_000;

/** A page of a large scope, as the embedded store has them. */
async function pageAt(scope: Scope, cursor = "0"): Promise<ScanPage> {
  await turns();
  const at = Number(cursor);
  const entries = Array.from({ length: Math.min(PAGE, MANY - at) }, (_, i) => ({
    ...memory(scope, (at + i) % MEMORIES),
    id: `${scope.namespace}-${at + i}`,
  }));
  return { entries, ...(at + PAGE < MANY ? { cursor: String(at + PAGE) } : {}) };
}

const atOnce = Deno.args[0] === "at-once";
await using index = new ScopeIndex({
  vectorStore: {
    scan: (scope, cursor) =>
      atOnce ? pageAt(scope, cursor) : Promise.resolve({ entries: page(scope) }),
  },
  dimensions: DIMENSIONS,
  budgetBytes: indexBytes(BUDGET),
});
const rss = () => Deno.memoryUsage().rss;
const before = rss();
let most = before;
let scopes = 0;
if (atOnce) {
  const watch = setInterval(() => most = Math.max(most, rss()), 5);
  await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => {
    const search = (loaded: LoadedScope) => loaded.match({ vector: vectors[i]! }, { limit: 10 });
    return index.read({ owner: "0x01", namespace: `s${i}` }, async (loaded) => {
      await turns(3);
      if (search(loaded).length === 10) scopes++;
    });
  }));
  clearInterval(watch);
}
for (let i = 0; i < SCOPES && !atOnce; i++) {
  const scope = { owner: "0x01", namespace: `s${i}` };
  await index.read(scope, (loaded) => {
    for (const { id } of loaded.withoutText()) {
      loaded.setText(id, 1, `I like ${id} and the garden in winter`);
    }
    loaded.match({ vector: vectors[i]!, text: "garden in winter" }, { limit: 10 });
  });
  const stats = index.stats();
  if (stats.bytes > indexBytes(BUDGET)) throw new Error(`${stats.bytes} bytes in use`);
  scopes = Math.max(scopes, stats.scopes);
  most = Math.max(most, rss());
}
const line = JSON.stringify({ budget: BUDGET, before, most, scopes });
Deno.stdout.writeSync(new TextEncoder().encode(line));
