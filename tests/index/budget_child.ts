import { uniform, unitVector } from "../../bench/statistics.ts";
import { indexBytes } from "../../src/index/budget.ts";
import { ScopeIndex } from "../../src/index/scope_index.ts";
import type { IndexEntry, Scope } from "../../src/interfaces/mod.ts";

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
  return vectors.map((vector, i) => ({
    ...scope,
    id: `${scope.namespace}-${i}`,
    version: 1,
    vectors: [vector],
    payload: payload.slice(),
    keyId: "",
    createdAt: i,
    updatedAt: i,
    importance: 0.5,
    source: "remember",
    bytes: 400,
  }));
}

await using index = new ScopeIndex({
  vectorStore: { scan: (scope) => Promise.resolve({ entries: page(scope) }) },
  dimensions: DIMENSIONS,
  budgetBytes: indexBytes(BUDGET),
});
const rss = () => Deno.memoryUsage().rss;
const before = rss();
let most = before;
let scopes = 0;
for (let i = 0; i < SCOPES; i++) {
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
