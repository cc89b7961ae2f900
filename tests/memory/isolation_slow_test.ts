import assert from "node:assert/strict";
import fc from "fast-check";
import { type Json, startRelayer, type TestKey, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { HOSTILE, inQuery } from "./hostile.ts";

const NAMESPACES = ["default", "Default", "cafe\u0301", "caf\u00e9", "__proto__", "a/b"];
assert.ok(NAMESPACES.every((name) => HOSTILE.includes(name)));

interface Remembered {
  readonly owner: number;
  readonly namespace: string;
  readonly text: string;
}

interface Scope {
  readonly owner: number;
  readonly namespace: string;
}

type Operation =
  | { readonly kind: "remember" | "bulk" | "recall" | "list" | "forget" | "stats" } & Scope
  | { readonly kind: "restore" | "namespaces" } & Scope
  | { readonly kind: "get" | "job" | "delete" | "retry" } & Scope & { readonly pick: number };

const scope = {
  owner: fc.integer({ min: 0, max: 1 }),
  namespace: fc.constantFrom(...NAMESPACES),
};
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("remember", "bulk"), ...scope }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom("recall", "list", "stats", "restore", "namespaces"),
      ...scope,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("forget" as const), ...scope }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom("get", "job", "delete", "retry"),
      ...scope,
      pick: fc.nat(),
    }),
  },
);

/** What the relayer must hold, and the operations that are compared with it. */
class Model {
  readonly #svc: TestRelayer;
  readonly #keys: readonly TestKey[];
  readonly #alive = new Map<string, Remembered>();
  readonly #all = new Map<string, Remembered>();
  #count = 0;

  constructor(svc: TestRelayer, keys: readonly TestKey[]) {
    this.#svc = svc;
    this.#keys = keys;
  }

  async run(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case "remember":
      case "bulk":
        return await this.#remember(operation, operation.kind === "bulk");
      case "forget":
        return await this.#forget(operation);
      case "namespaces":
        return await this.#namespaces(operation.owner);
      case "restore": {
        const { body } = await this.#post(operation, "/api/restore");
        assert.equal(body.restored, 0);
        assert.equal(body.total, this.#in(operation).length);
        return;
      }
      case "stats": {
        const { body } = await this.#post(operation, "/api/stats");
        assert.equal(body.memory_count, this.#in(operation).length);
        return;
      }
      case "recall": {
        const { body } = await this.#post(operation, "/api/recall", { query: "fact", limit: 100 });
        return this.#same(operation, body.results);
      }
      case "list": {
        const path = `/api/memories?limit=200&namespace=${inQuery(operation.namespace)}`;
        const { body } = await this.#svc.get(path, { key: this.#keys[operation.owner]! });
        assert.equal(body.total, this.#in(operation).length);
        return this.#same(operation, body.memories);
      }
      default:
        return await this.#one(operation);
    }
  }

  #in({ owner, namespace }: Scope): string[] {
    return [...this.#alive].filter(([, memory]) =>
      memory.owner === owner && memory.namespace === namespace
    ).map(([id]) => id);
  }

  #same(scope: Scope, found: Json[]): void {
    const ids = found.map((item) => item.memory_id);
    assert.deepEqual(ids.toSorted(), this.#in(scope).toSorted());
    for (const item of found) {
      assert.equal(item.text, this.#alive.get(item.memory_id)!.text);
      assert.equal(item.namespace, scope.namespace);
    }
  }

  #post({ owner, namespace }: Scope, path: string, body: Json = {}) {
    return this.#svc.post(path, { namespace, ...body }, { key: this.#keys[owner]! });
  }

  async #remember(scope: Scope, bulk: boolean): Promise<void> {
    const texts = Array.from({ length: bulk ? 2 : 1 }, () => `fact ${++this.#count}`);
    const { namespace } = scope;
    const { body } = bulk
      ? await this.#post(scope, "/api/remember/bulk", {
        items: texts.map((text) => ({ text, namespace })),
      })
      : await this.#post(scope, "/api/remember", { text: texts[0] });
    const ids: string[] = bulk ? body.job_ids : [body.job_id];
    for (const [i, id] of ids.entries()) {
      const memory = { owner: scope.owner, namespace, text: texts[i]! };
      this.#alive.set(id, memory);
      this.#all.set(id, memory);
    }
    await this.#svc.relayer.idle();
  }

  async #forget(scope: Scope): Promise<void> {
    const gone = this.#in(scope);
    const { body } = await this.#post(scope, "/api/forget");
    assert.equal(body.deleted, gone.length);
    for (const id of gone) this.#alive.delete(id);
  }

  async #namespaces(owner: number): Promise<void> {
    const { body } = await this.#svc.get("/api/namespaces", { key: this.#keys[owner]! });
    const expected = NAMESPACES.flatMap((namespace) => {
      const memory_count = this.#in({ owner, namespace }).length;
      return memory_count === 0 ? [] : [`${namespace}: ${memory_count}`];
    });
    const found = body.namespaces.map((item: Json) => `${item.namespace}: ${item.memory_count}`);
    assert.deepEqual(found.toSorted(), expected.toSorted());
  }

  /** A memory of anybody, asked for by somebody. */
  async #one({ kind, owner, pick }: Extract<Operation, { pick: number }>): Promise<void> {
    const ids = [...this.#all.keys()];
    if (ids.length === 0) return;
    const id = ids[pick % ids.length]!;
    const key = this.#keys[owner]!;
    const memory = this.#all.get(id)!;
    const own = memory.owner === owner;
    const readable = own && this.#alive.has(id);
    if (kind === "get") {
      const { status, body } = await this.#svc.get(`/api/memories/${id}`, { key });
      assert.equal(status, readable ? 200 : 404);
      assert.equal(body.text, readable ? memory.text : undefined);
    } else if (kind === "delete") {
      const { status } = await this.#svc.send("DELETE", `/api/memories/${id}`, undefined, { key });
      assert.equal(status, readable ? 200 : 404);
      if (readable) this.#alive.delete(id);
    } else if (kind === "retry") {
      const { body } = await this.#svc.post(`/api/remember/${id}/retry`, {}, { key });
      assert.equal(body.code, own ? "job_not_retryable" : "job_not_found");
    } else {
      const { status } = await this.#svc.get(`/api/remember/${id}`, { key });
      assert.equal(status, own ? 200 : 404);
      const body = { job_ids: [id] };
      const bulk = await this.#svc.post("/api/remember/bulk/status", body, { key });
      assert.equal(bulk.body.results[0].status, own ? "done" : "not_found");
    }
  }
}

Deno.test("nobody ever sees what is in another scope", async () => {
  verifies("10.6-24", "10.6-25", "10.6-22", "10.3-8", "10.10-6", "10.9-8", "10.2-2");
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 5, maxLength: 40 }), async (operations) => {
      await using svc = await startRelayer();
      const other = await svc.addAccount();
      const model = new Model(svc, [svc.key, other.key]);
      for (const operation of operations) await model.run(operation);
      for (const owner of [0, 1]) {
        for (const namespace of NAMESPACES) {
          for (const kind of ["list", "recall", "stats"] as const) {
            await model.run({ kind, owner, namespace });
          }
        }
      }
    }),
    { numRuns: 25 },
  );
});
