import { makeSigner, type Signer } from "../../src/client/signer.ts";
import { HEADER } from "../../src/wire/headers.ts";
import { bodySha256, canonicalText } from "../../src/wire/signing/signing.ts";
import { poll } from "../within.ts";

/** Who signs. */
export interface Identity {
  /** Signs. */
  readonly signer: Signer;
  /** The seed, 64 hex characters. */
  readonly privateKey: string;
  /** The account. */
  readonly accountId: string;
}

/** A request before it is signed. */
export interface Parts {
  /** Method and target, such as `GET /api/memories?limit=2`. */
  readonly route: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The form of the signature; default six fields. */
  readonly form?: "nonce" | "legacy";
  /** Value of `idempotency-key`. */
  readonly idempotencyKey?: string;
  /** Seconds the timestamp is ahead of now. */
  readonly ahead?: number;
}

/** A request as it goes over the wire; sent twice, it is a replay. */
export interface SignedRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly bodySha256: string;
}

/** A memory, a hit or a job of an answer. */
export interface Item {
  readonly memory_id: string;
  readonly job_id: string;
  readonly text: string;
  readonly status: string;
  readonly attempts: number;
  readonly namespace: string;
  readonly blob_id: string;
  readonly created_at: string;
  readonly occurred_at: string;
  readonly importance: number;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Members of the answers used here; a route gives some of them. */
export interface Body {
  readonly code: string;
  readonly job_id: string;
  readonly job_ids: readonly string[];
  readonly memory_id: string;
  readonly status: string;
  readonly results: readonly Item[];
  readonly memories: readonly Item[];
  readonly facts: readonly Item[];
  readonly method: string;
  readonly answer: string;
  readonly answer_mode: string;
  readonly next_cursor: string | undefined;
  readonly pending: number | undefined;
  readonly restored: number;
  readonly skipped: number;
  readonly failed: number;
  readonly remaining: number;
  readonly total: number;
  readonly namespaces: readonly Item[];
  readonly text: string;
  readonly receipt: { readonly statement: string };
  readonly versions: readonly { readonly version: number; readonly blob_id: string }[];
}

/** An answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** An identity of a private key. */
export async function makeIdentity(privateKey: string, accountId: string): Promise<Identity> {
  return { privateKey, accountId, signer: await makeSigner(Uint8Array.fromHex(privateKey)) };
}

/** Signs a request. */
export async function sign(identity: Identity, parts: Parts): Promise<SignedRequest> {
  const [method = "", target = ""] = parts.route.split(" ");
  const body = parts.body === undefined ? undefined : JSON.stringify(parts.body);
  const hash = bodySha256(new TextEncoder().encode(body ?? ""));
  const timestamp = String(Math.floor(Date.now() / 1000) + (parts.ahead ?? 0));
  const nonce = parts.form === "legacy" ? undefined : crypto.randomUUID();
  const { signer, accountId } = identity;
  const signature = await signer.sign(
    canonicalText({ timestamp, method, target, bodySha256: hash, nonce, accountId }),
  );
  const headers: Record<string, string> = {
    [HEADER.publicKey]: signer.publicKey,
    [HEADER.signature]: signature.toHex(),
    [HEADER.timestamp]: timestamp,
    [HEADER.accountId]: accountId,
  };
  if (nonce !== undefined) headers[HEADER.nonce] = nonce;
  if (body !== undefined) headers["content-type"] = "application/json";
  if (parts.idempotencyKey !== undefined) headers[HEADER.idempotencyKey] = parts.idempotencyKey;
  return { method, target, headers, body, bodySha256: hash };
}

/** Sends a signed request; rejects when the connection breaks. */
export async function send(url: string, request: SignedRequest): Promise<Answer> {
  const { method, target, headers, body } = request;
  const init = body === undefined ? { method, headers } : { method, headers, body };
  const response = await fetch(url + target, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: JSON.parse(text) };
}

/** Sends a request, signed anew with a later time as long as a start after a crash refuses it. */
export async function call(url: string, identity: Identity, parts: Parts): Promise<Answer> {
  for (let ahead = 0;; ahead++) {
    const answer = await send(url, await sign(identity, { ...parts, ahead }));
    if (answer.body.code !== "timestamp_out_of_range" || ahead > 5) return answer;
  }
}

/** State of a dependency in /health. */
export interface Dependency {
  readonly status: string;
  readonly pending: number;
}

/** What /health says. */
export interface Health {
  readonly status: string;
  readonly dependencies: Readonly<Record<"queue" | "sidecar" | "embedder", Dependency>>;
}

/** Asks /health. */
export async function health(url: string): Promise<Health> {
  return await (await fetch(`${url}/health`)).json();
}

/** Waits until no job is left. */
export async function idle(url: string, timeoutMs = 120_000): Promise<void> {
  await poll(() => health(url), (now) => now.dependencies.queue.pending === 0, timeoutMs);
}

/**
 * Resolves when a relayer has done what the one before it left. Where relayers share a store, whoever
 * is asked for anything of an owner takes that up.
 */
export async function takenUp(url: string, identity: Identity): Promise<void> {
  await call(url, identity, { route: "GET /api/account" });
  await idle(url);
}

/** Every memory of a namespace, page by page. */
export async function listAll(
  url: string,
  identity: Identity,
  namespace: string,
  limit = 200,
): Promise<Item[]> {
  const found: Item[] = [];
  let cursor: string | undefined;
  do {
    const after = cursor === undefined ? "" : `&cursor=${cursor}`;
    const route = `GET /api/memories?namespace=${namespace}&limit=${limit}${after}`;
    const { status, body } = await call(url, identity, { route });
    if (status !== 200) throw new Error(`${route}: ${status} ${body.code}`);
    found.push(...body.memories);
    cursor = body.next_cursor;
  } while (cursor !== undefined);
  return found;
}
