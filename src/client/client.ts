import { SvcError } from "../errors.ts";
import type { RouteName, Sent, SignedName } from "../wire/route_types.ts";
import { readLines } from "./capped_body.ts";
import { exportLine } from "./failures.ts";
import { resolveOptions, type SvcClientOptions } from "./options.ts";
import type {
  ActivityQuery,
  AnalyzeFields,
  CallControl,
  DeleteControl,
  ManualItem,
  MemoryQuery,
  MemoryUpdate,
  NamespaceQuery,
  RecallFields,
  RecallManualFields,
  RememberFields,
  RememberItem,
  ReviewQuery,
  WaitControl,
  WriteControl,
  WritesControl,
} from "./requests.ts";
import type { Answer, JobRecord, JobStatus, Memory } from "./results.ts";
import { type Call, randomUuid, Transport } from "./transport.ts";
import { pollJobs } from "./waiting.ts";

/** An id as part of a path; one that cannot exist is never sent. */
function segment(route: string, id: string): string {
  if (/^[\w-]{1,128}$/.test(id)) return id;
  throw new SvcError(route.includes("/memories/") ? "memory_not_found" : "job_not_found");
}

/** A query string of the members that are set. */
function queryOf(members: unknown): string {
  const query = Object.entries(members ?? {})
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join("&");
  return query === "" ? "" : `?${query}`;
}

/** What a call of a route carries: its body, its query and its id, where the table has them. */
export type RouteCall<N extends RouteName> =
  & WriteControl
  & {
    /** Whether it is sent what opens memories, where the relayer asks for that; `locked`: at once. */
    readonly decrypts?: boolean | "locked";
  }
  & (Sent<N> extends undefined ? unknown : { readonly body: Sent<N> })
  & { readonly query?: Sent<N, "query">; readonly id?: string }
  & (N extends `${string}:id${string}` ? { readonly id: string } : unknown);

/** As {@linkcode RouteCall}, with what only this file knows of a route. */
type Asked<N extends RouteName> = RouteCall<N> & Pick<Call, "unsigned" | "repeatable">;

type LooselyAsked = Omit<Call, "route"> & { readonly query?: unknown; readonly id?: string };

/** Options of calls that may be repeated. */
function read(control: CallControl | undefined) {
  return { repeatable: true, signal: control?.signal } as const;
}

/** Options of calls that are kept under an idempotency key. */
function write(control: WriteControl | undefined) {
  return { idempotencyKey: control?.idempotencyKey ?? randomUuid(), signal: control?.signal };
}

/**
 * Signed client of a relayer, on the platform's `fetch` alone; runs in browsers too.
 *
 * Reads are repeated on connection failures and where the relayer asks for it by `Retry-After`;
 * writes only with an idempotency key, which the methods that have one make themselves. Every
 * method throws {@linkcode SvcError} for the relayer's refusals, `SvcConnectionError` when it
 * cannot be reached and `SvcAnswerError` for answers of something else.
 *
 * @example Save a fact and find it again
 * ```ts ignore
 * const client = new SvcClient({ baseUrl: "http://127.0.0.1:8000", privateKey });
 * const { job_id } = await client.remember("I like tea");
 * await client.waitFor(job_id);
 * const { results } = await client.recall("What do I drink?");
 * ```
 */
export class SvcClient {
  readonly #transport: Transport;

  /**
   * Constructs a client; nothing is sent yet.
   * @throws {SvcError} `invalid_parameter`, with the option's name as `field`.
   */
  constructor(options: SvcClientOptions) {
    this.#transport = new Transport(resolveOptions(options));
  }

  /** Base address of the relayer, without a slash at its end. */
  get baseUrl(): string {
    return this.#transport.options.baseUrl;
  }

  /** Public key that signs, 64 lower-case hex characters. */
  async publicKey(): Promise<string> {
    return (await this.#transport.signer()).publicKey;
  }

  #ask<N extends RouteName>(name: N, asked: Asked<N>): Answer<N>;
  async #ask(name: RouteName, { id = "", query, ...call }: LooselyAsked): Promise<unknown> {
    const path = name.includes(":id") ? name.replace(":id", segment(name, id)) : name;
    return await this.#transport.json({ ...call, route: path + queryOf(query) as Call["route"] });
  }

  /**
   * Calls a signed route by its name, also one that has no method here; the table of routes says
   * what is sent and answered. GET is repeated on connection failures, everything else only with an
   * idempotency key.
   */
  call<N extends SignedName>(name: N, call: RouteCall<N>): Answer<N> {
    return this.#ask(name, { ...call, repeatable: name.startsWith("GET ") });
  }

  /** Saves a text; answers once it is durably accepted. */
  remember(
    text: string,
    fields?: RememberFields,
    control?: WriteControl,
  ): Answer<"POST /api/remember"> {
    return this.#ask("POST /api/remember", { ...write(control), body: { ...fields, text } });
  }

  /** Saves 1 to 20 texts, all or none. */
  rememberBulk(
    items: readonly RememberItem[],
    control?: WritesControl,
  ): Answer<"POST /api/remember/bulk"> {
    const body = { items, secrets: control?.secrets, deduplicate: control?.deduplicate };
    return this.#ask("POST /api/remember/bulk", { ...write(control), body });
  }

  /** Saves a payload the caller encrypted; see `status` for whether its blob is stored. */
  rememberManual(item: ManualItem, control?: WriteControl): Answer<"POST /api/remember/manual"> {
    return this.#ask("POST /api/remember/manual", { ...write(control), body: item });
  }

  /** Extracts the facts of a text of at most 64 KiB and saves each. */
  analyze(
    text: string,
    fields?: AnalyzeFields,
    control?: WriteControl,
  ): Answer<"POST /api/analyze"> {
    const body = { ...fields, text };
    return this.#ask("POST /api/analyze", { ...write(control), body, decrypts: true });
  }

  /** A job; `job_not_found` when it is unknown. */
  job(jobId: string, control?: CallControl): Answer<"GET /api/remember/:id"> {
    return this.#ask("GET /api/remember/:id", { ...read(control), id: jobId });
  }

  /** 1 to 20 jobs, in the order of the ids. */
  jobs(jobIds: readonly string[], control?: CallControl): Answer<"POST /api/remember/bulk/status"> {
    const body = { job_ids: jobIds };
    return this.#ask("POST /api/remember/bulk/status", { ...read(control), body });
  }

  /** Starts a failed job again. */
  retryJob(jobId: string, control?: CallControl): Answer<"POST /api/remember/:id/retry"> {
    const { signal } = control ?? {};
    return this.#ask("POST /api/remember/:id/retry", { id: jobId, body: {}, signal });
  }

  /**
   * Polls a job until it is recallable or done, failed, or time is up; answers the last state seen,
   * so look at `status` and `recallable`.
   */
  waitFor(jobId: string, control: WaitControl = {}): Promise<JobRecord> {
    const ask = (decrypts: false | "locked", signal?: AbortSignal) =>
      this.#ask("GET /api/remember/:id", { ...read({ signal }), id: jobId, decrypts });
    return this.#wait(control, ask, (job) => [job]);
  }

  /** As {@linkcode SvcClient.waitFor} for 1 to 20 jobs. */
  waitForAll(
    jobIds: readonly string[],
    control: WaitControl = {},
  ): Answer<"POST /api/remember/bulk/status"> {
    const body = { job_ids: jobIds };
    const ask = (decrypts: false | "locked", signal?: AbortSignal) =>
      this.#ask("POST /api/remember/bulk/status", { ...read({ signal }), body, decrypts });
    return this.#wait(control, ask, ({ results }) => results);
  }

  #wait<T>(
    { until = "recallable", timeoutMs = 60_000, signal }: WaitControl,
    ask: (decrypts: false | "locked", signal?: AbortSignal) => Promise<T>,
    jobsIn: (answer: T) => readonly (JobRecord | JobStatus)[],
  ): Promise<T> {
    return pollJobs(ask, jobsIn, until, { ...this.#transport.options, timeoutMs, signal });
  }

  /** Finds memories by meaning and words. */
  recall(query: string, fields?: RecallFields, control?: CallControl): Answer<"POST /api/recall"> {
    const body = { ...fields, query };
    return this.#ask("POST /api/recall", { ...read(control), body, decrypts: true });
  }

  /** Finds memories by vector; answers identifiers and distances only. */
  recallManual(
    vector: readonly number[],
    fields?: RecallManualFields,
    control?: CallControl,
  ): Answer<"POST /api/recall/manual"> {
    return this.#ask("POST /api/recall/manual", { ...read(control), body: { ...fields, vector } });
  }

  /** Answers a question from the memories. */
  ask(question: string, fields?: RecallFields, control?: CallControl): Answer<"POST /api/ask"> {
    const body = { ...fields, question };
    return this.#ask("POST /api/ask", { ...read(control), body, decrypts: true });
  }

  /** Embeds a text; nothing is stored. */
  embed(text: string, control?: CallControl): Answer<"POST /api/embed"> {
    return this.#ask("POST /api/embed", { ...read(control), body: { text } });
  }

  /** Indexes what the blob store has and the index lacks; repeating it is harmless. */
  restore(namespace: string, limit?: number, control?: CallControl): Answer<"POST /api/restore"> {
    const body = { namespace, limit };
    return this.#ask("POST /api/restore", { ...read(control), body, decrypts: true });
  }

  /** One page of a namespace's memories. */
  memories(query: MemoryQuery = {}, control?: CallControl): Answer<"GET /api/memories"> {
    return this.#ask("GET /api/memories", { ...read(control), query, decrypts: true });
  }

  /** Every memory of a namespace, page by page. */
  async *allMemories(
    query: MemoryQuery = {},
    control?: CallControl,
  ): AsyncGenerator<Memory, void, undefined> {
    let cursor = query.cursor;
    do {
      const page = await this.memories({ ...query, cursor }, control);
      yield* page.memories;
      cursor = page.next_cursor;
    } while (cursor !== undefined);
  }

  /** A memory and its versions; with `version` as it was then. */
  memory(
    memoryId: string,
    control?: CallControl & { readonly version?: number | undefined },
  ): Answer<"GET /api/memories/:id"> {
    const call = {
      ...read(control),
      query: { version: control?.version },
      decrypts: true,
    } as const;
    return this.#ask("GET /api/memories/:id", { ...call, id: memoryId });
  }

  /**
   * Replaces a memory; the old version is recalled until the new one is recallable, and readable
   * afterwards. Answers once the change is durably accepted; `version_conflict` when the memory has
   * another version than the expected one. A relayer whose `featureFlags` in `/version` do not say
   * `memories.replace` answers `method_not_allowed`.
   */
  updateMemory(
    memoryId: string,
    update: MemoryUpdate,
    control?: WriteControl,
  ): Answer<"PUT /api/memories/:id"> {
    const call = { ...write(control), id: memoryId, body: update, decrypts: true } as const;
    return this.#ask("PUT /api/memories/:id", call);
  }

  /** One page of what rules found in a namespace and nobody has decided on. */
  review(query: ReviewQuery = {}, control?: CallControl): Answer<"GET /api/review"> {
    return this.#ask("GET /api/review", { ...read(control), query, decrypts: true });
  }

  /** Accepts or undoes what rules found about a memory; with `otherId` about those two alone. */
  decideReview(
    memoryId: string,
    decision: "accept" | "undo",
    otherId?: string,
    control?: WriteControl,
  ): Answer<"POST /api/review"> {
    const body = { memory_id: memoryId, decision, other_id: otherId };
    return this.#ask("POST /api/review", { ...write(control), body, decrypts: true });
  }

  /** Deletes a memory with all its versions. */
  deleteMemory(memoryId: string, control?: DeleteControl): Answer<"DELETE /api/memories/:id"> {
    const query = { expected_version: control?.expectedVersion };
    return this.#ask("DELETE /api/memories/:id", { query, id: memoryId, signal: control?.signal });
  }

  /** One page of namespaces. */
  namespaces(query: NamespaceQuery = {}, control?: CallControl): Answer<"GET /api/namespaces"> {
    return this.#ask("GET /api/namespaces", { ...read(control), query });
  }

  /** Numbers of a namespace, default `default`. */
  stats(namespace?: string, control?: CallControl): Answer<"POST /api/stats"> {
    return this.#ask("POST /api/stats", { ...read(control), body: { namespace } });
  }

  /** Deletes every memory of a namespace. */
  forget(namespace: string, control?: CallControl): Answer<"POST /api/forget"> {
    return this.#ask("POST /api/forget", { body: { namespace }, signal: control?.signal });
  }

  /**
   * A receipt for memories that were deleted, as things are now: what was not erased at once may be
   * by now. `memory_not_found` when one of them was not deleted through this relayer.
   */
  receipt(
    memoryIds: readonly string[],
    namespace?: string,
    control?: CallControl,
  ): Answer<"POST /api/receipts"> {
    const body = { namespace, memory_ids: memoryIds };
    return this.#ask("POST /api/receipts", { ...read(control), body });
  }

  /** The key that signs receipts; not signed. */
  receiptKey(control?: CallControl): Answer<"GET /.well-known/svc-receipt-key"> {
    const call = { ...read(control), unsigned: true } as const;
    return this.#ask("GET /.well-known/svc-receipt-key", call);
  }

  /** The account, the key that signed, and the quota. */
  account(control?: CallControl): Answer<"GET /api/account"> {
    return this.#ask("GET /api/account", read(control));
  }

  /** The account's keys, with when each was used last. */
  accountKeys(control?: CallControl): Answer<"GET /api/account/keys"> {
    return this.#ask("GET /api/account/keys", read(control));
  }

  /** One page of what was done with the account, by whom and from where. */
  activity(
    query: ActivityQuery = {},
    control?: CallControl,
  ): Answer<"GET /api/account/activity"> {
    return this.#ask("GET /api/account/activity", { ...read(control), query });
  }

  /**
   * Lines of an export (docs/protocol.md#10.11) as they come, parsed. It is complete only if the last
   * one has the type `end`. A relayer whose `featureFlags` in `/version` and `/health` do not say
   * `memories.export` answers `not_found`.
   *
   * @param namespace Only this one; every namespace when absent.
   * @param control With `history` the earlier versions of each memory come before it; the end line of
   * a relayer that does not know them has no `versions`.
   */
  async *exportMemories(
    namespace?: string,
    control?: CallControl & { readonly history?: boolean | undefined },
  ): AsyncGenerator<Record<string, unknown>, void, undefined> {
    const route = "POST /api/export";
    const body = { namespace, ...control?.history && { history: true } };
    const call = { route, body, decrypts: true, signal: control?.signal } as const;
    for await (const line of readLines(await this.#transport.stream(call))) yield exportLine(line);
  }

  /**
   * Imports at most 200 memories; `ndjson` has the form of an export. Ids, times and versions stay,
   * and what is there already is skipped, so that it may be repeated. With `bringBack` memories that
   * were deleted come back, under other ids.
   */
  importMemories(
    ndjson: string,
    control?: WritesControl & { readonly bringBack?: boolean | undefined },
  ): Answer<"POST /api/import"> {
    const { bringBack, secrets } = control ?? {};
    const query = { bring_back: bringBack || undefined, secrets };
    const call = { ...write(control), query, body: ndjson, decrypts: true } as const;
    return this.#ask("POST /api/import", call);
  }

  /** Health of the relayer, also when it is not well; not signed. */
  health(control?: CallControl): Answer<"GET /health"> {
    return this.#ask("GET /health", { ...read(control), unsigned: true });
  }

  /** Versions and abilities of the relayer; not signed. */
  version(control?: CallControl): Answer<"GET /version"> {
    return this.#ask("GET /version", { ...read(control), unsigned: true });
  }

  /** Public configuration of the relayer; not signed. */
  config(control?: CallControl): Answer<"GET /config"> {
    return this.#ask("GET /config", { ...read(control), unsigned: true });
  }
}
