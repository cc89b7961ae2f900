import fc from "fast-check";
import { routeNames } from "../../src/wire/routes.ts";
import type { SignedName } from "../../src/wire/route_types.ts";
import type { Answer, TestKey, TestRelayer } from "../relayer_fixture.ts";
import { plain } from "./plain_answer.ts";

/** What the bound key is for. */
export const ONLY = ["work", "notes/"];
const OPEN = ["work", "notes/a", "notes/"];
const FOREIGN = ["default", "secret", "work2", "Work", "notes", "other/x", ""];
const UNKNOWN = "8f14e45f-ceea-467f-a3c1-2b0d6f3a9c11";
const VECTOR = Array.from({ length: 256 }, (_, i) => i === 0 ? 1 : 0);

export const MANUAL = { encrypted_data: btoa("sealed by the client"), vector: VECTOR };

/** A relayer with a key that is bound, and ids of what the key wrote. */
export interface Side extends AsyncDisposable {
  readonly svc: TestRelayer;
  readonly key: TestKey;
  readonly own: readonly string[];
  /** Headers with what opens the records of a key, where the cipher needs it. */
  readonly credential: (key: TestKey) => Record<string, string>;
}

/** A relayer with a clock that stands, on which a bound key wrote into its namespaces. */
export async function sideOf(
  svc: TestRelayer,
  key: TestKey,
  credential: Side["credential"] = () => ({}),
): Promise<Side> {
  const own = [];
  for (const [i, namespace] of OPEN.entries()) {
    svc.clock.advance(1000);
    const as = { key, headers: credential(key) };
    own.push(await svc.remember(`I like tea number ${i}`, { namespace }, as));
  }
  return { svc, key, own, credential, [Symbol.asyncDispose]: () => svc[Symbol.asyncDispose]() };
}

/** Forgets an open namespace, by the key that is not bound. */
export async function forgetWork({ svc, credential }: Side): Promise<void> {
  await svc.post("/api/forget", { namespace: "work" }, { headers: credential(svc.key) });
  await svc.relayer.idle();
}

/** Ids of memories that the key has nothing to do with. */
export interface Others {
  readonly ids: readonly string[];
  readonly blobId: string;
}

/** Fills the other namespaces by another key, with what fits every request. */
export async function fill(side: Side): Promise<Others> {
  const { svc, credential } = side;
  const own = credential(svc.key);
  const ids = [];
  for (const namespace of FOREIGN) {
    for (const text of ["I like tea", "I like coffee", "My sister lives in Brno."]) {
      ids.push(await svc.remember(text, { namespace, metadata: { a: 1 } }, { headers: own }));
    }
  }
  const changed = ids[0]!;
  await svc.send("PUT", `/api/memories/${changed}`, { text: "I like tea with milk" }, {
    headers: own,
  });
  await svc.send("DELETE", `/api/memories/${ids[1]}`, undefined, { headers: own });
  const headers = { ...own, "idempotency-key": "same" };
  for (const namespace of ["secret", "work"]) {
    const kept = { text: "kept", namespace };
    await svc.post("/api/remember", kept, {
      headers: { ...own, "idempotency-key": `same ${namespace}`.replace(" ", "-") },
    });
  }
  const { body } = await svc.post("/api/remember/manual", { ...MANUAL, namespace: "secret" }, {
    headers,
  });
  await svc.relayer.idle();
  // What that key wrote into an open namespace is there for everybody.
  await forgetWork(side);
  return { ids: [changed, ids[1]!, ids[4]!, body.job_id], blobId: body.blob_id };
}

/** What a request is made of; `id` is an index into own ids, others' ids and an unknown one. */
export interface Drawn {
  readonly route: SignedName;
  readonly namespace: string;
  readonly second: string;
  readonly id: number;
  readonly text: string;
  readonly flag: boolean;
}

export const drawn: fc.Arbitrary<Drawn> = fc.record({
  route: fc.constantFrom(...routeNames("signed")),
  namespace: fc.constantFrom(...OPEN, ...FOREIGN),
  second: fc.constantFrom(...OPEN, ...FOREIGN),
  id: fc.nat(),
  text: fc.constantFrom("I like tea", "I like coffee", "My sister lives in Brno."),
  flag: fc.boolean(),
});

type Sent = readonly [path: string, body?: unknown, idempotencyKey?: string | undefined];

/** Path and body of a request of a side. */
function sent({ own }: Side, others: Others, given: Drawn): Sent {
  const { route, namespace, second, text, flag } = given;
  const ids = [...own, ...others.ids, UNKNOWN];
  const id = ids[given.id % ids.length]!;
  const path = route.slice(route.indexOf(" ") + 1).replace(":id", id);
  const query = `namespace=${encodeURIComponent(namespace)}`;
  const key = flag ? "same" : undefined;
  const supersedes = given.id % 3 === 0 ? { supersedes: [id] } : {};
  const line = (more: object) => JSON.stringify({ type: "memory", text, ...more });
  switch (route) {
    case "POST /api/remember":
      return [path, { text, namespace, ...supersedes }, key];
    case "POST /api/remember/bulk":
      return [path, { items: [{ text, namespace }, { text, namespace: second }] }, key];
    case "POST /api/remember/bulk/status":
      return [path, { job_ids: ids }];
    case "POST /api/remember/manual":
      return [
        path,
        flag ? { ...MANUAL, namespace } : { vector: VECTOR, blob_id: others.blobId, namespace },
      ];
    case "POST /api/recall":
      return [path, { query: text, namespace, ...flag ? { include: "history" } : {} }];
    case "POST /api/recall/manual":
      return [path, { vector: VECTOR, namespace }];
    case "POST /api/ask":
      return [path, { question: `What about it: ${text}?`, namespace }];
    case "POST /api/analyze":
      return [path, { text, namespace }, key];
    case "POST /api/embed":
      return [path, { text }];
    case "POST /api/session-token":
      return [path, { audience: "http://localhost:8000", namespace }];
    case "POST /api/restore":
    case "POST /api/stats":
      return [path, { namespace: namespace || "secret" }];
    case "POST /api/forget":
      return [path, { namespace: given.id % 5 === 0 ? namespace || "secret" : "secret" }];
    case "POST /api/receipts":
      return [path, { namespace: namespace || "default", memory_ids: [id] }];
    case "POST /api/export":
      return [path, flag ? {} : { namespace, history: given.id % 2 === 0 }];
    case "POST /api/import": {
      // Of another time for each text: memories of one time are in the order of their ids.
      const times = { created_at: `2026-01-01T00:00:${text.length}Z` };
      return [path, `${line({ namespace, ...times })}\n${line({ namespace: second, ...times })}\n`];
    }
    case "GET /api/memories":
      return [`${path}?${query}&limit=${flag ? 2 : 200}`];
    case "PUT /api/memories/:id":
      return [path, { text: `${text} indeed`, ...supersedes }];
    case "GET /api/review":
      return [`${path}?${query}`];
    case "POST /api/review":
      return [path, { memory_id: id, decision: flag ? "accept" : "undo" }];
    case "PUT /api/namespaces":
      return [path, { namespace: namespace || "default", conflicts: flag ? "off" : null }];
    case "GET /api/account/activity":
      return [`${path}?limit=5`];
    case "GET /api/namespaces":
      return [`${path}?limit=${flag ? 1 : 1000}`];
    default:
      return route.startsWith("GET") ? [path] : [path, {}];
  }
}

/** An answer without what of a receipt depends on how far the overwriting of files is. */
function untimed({ text, body }: Answer): string {
  if (body?.receipt === undefined) return text;
  const { erased: _erased, survives: _survives, ...statement } = JSON.parse(body.receipt.statement);
  return JSON.stringify({ ...body, erased: undefined, receipt: statement });
}

export async function answerOf(one: Side, others: Others, given: Drawn): Promise<string> {
  const { svc, key } = one;
  svc.clock.advance(1000);
  const [path, body, idempotencyKey] = sent(one, others, given);
  const [method = ""] = given.route.split(" ");
  const type = typeof body === "string" ? { "content-type": "application/x-ndjson" } : {};
  const idempotency = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
  const headers = { ...one.credential(key), ...type, ...idempotency };
  const answer = await svc.send(method, path, body, { key, headers });
  await svc.relayer.idle();
  // Lines are in the order of ids, of which an import makes some out of the owner's address.
  const text = untimed(answer);
  const lines = given.route === "POST /api/export" ? text.split("\n") : [text];
  return lines.map((text) => plain({ ...answer, text })).sort().join("\n");
}
