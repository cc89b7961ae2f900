import { type ErrorCode, SvcError } from "../errors.ts";
import { readLines } from "./capped_body.ts";
import { parseObject, SvcAnswerError } from "./failures.ts";
import type * as jobs from "./job_results.ts";
import type * as memories from "./memory_results.ts";
import { resolveOptions, type SvcClientOptions } from "./options.ts";
import type * as recalls from "./recall_results.ts";
import type * as relayer from "./relayer_results.ts";
import type * as req from "./requests.ts";
import { type Call, randomUuid, Transport } from "./transport.ts";
import { isSettled, poll, type Polling } from "./waiting.ts";

/** An id as part of a path; one that cannot exist is never sent. */
function segment(id: string, missing: ErrorCode): string {
  if (!/^[\w-]{1,128}$/.test(id)) throw new SvcError(missing);
  return id;
}

/** A query string of the members that are set. */
function queryOf(members: object): string {
  const query = Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join("&");
  return query === "" ? "" : `?${query}`;
}

/** One line of an export. */
function exportLine(line: string): Record<string, unknown> {
  const value = parseObject(line);
  if (value === undefined) throw new SvcAnswerError("The export is not NDJSON", 200);
  return { ...value };
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

  /** The relayer is trusted to answer in the shape of the protocol. */
  async #ask<T>(route: Call["route"], call: Omit<Call, "route">): Promise<T> {
    return await this.#transport.json({ ...call, route }) as T;
  }

  #read<T>(
    route: Call["route"],
    control?: req.CallControl,
    call: Omit<Call, "route"> = {},
  ): Promise<T> {
    return this.#ask(route, { ...call, repeatable: true, signal: control?.signal });
  }

  #write<T>(
    route: Call["route"],
    body: unknown,
    control?: req.WriteControl,
    call: Omit<Call, "route"> = {},
  ): Promise<T> {
    const idempotencyKey = control?.idempotencyKey ?? randomUuid();
    return this.#ask(route, { ...call, body, idempotencyKey, signal: control?.signal });
  }

  /** Saves a text; answers once it is durably accepted. */
  remember(
    text: string,
    fields?: req.RememberFields,
    control?: req.WriteControl,
  ): Promise<jobs.Accepted> {
    return this.#write("POST /api/remember", { ...fields, text }, control);
  }

  /** Saves 1 to 20 texts, all or none. */
  rememberBulk(
    items: readonly req.RememberItem[],
    control?: req.WriteControl,
  ): Promise<jobs.BulkAccepted> {
    return this.#write("POST /api/remember/bulk", { items }, control);
  }

  /** Saves a payload the caller encrypted; see `status` for whether its blob is stored. */
  rememberManual(item: req.ManualItem, control?: req.WriteControl): Promise<jobs.ManualStored> {
    return this.#write("POST /api/remember/manual", item, control);
  }

  /** Extracts the facts of a text of at most 64 KiB and saves each. */
  analyze(
    text: string,
    fields?: { readonly namespace?: string | undefined; readonly occurred_at?: string },
    control?: req.WriteControl,
  ): Promise<jobs.Analyzed> {
    return this.#write("POST /api/analyze", { ...fields, text }, control, { decrypts: true });
  }

  /** A job; `job_not_found` when it is unknown. */
  async job(jobId: string, control?: req.CallControl): Promise<jobs.JobRecord> {
    return await this.#read(`GET /api/remember/${segment(jobId, "job_not_found")}`, control);
  }

  /** 1 to 20 jobs, in the order of the ids. */
  jobs(jobIds: readonly string[], control?: req.CallControl): Promise<jobs.JobStatuses> {
    return this.#read("POST /api/remember/bulk/status", control, { body: { job_ids: jobIds } });
  }

  /** Starts a failed job again. */
  async retryJob(jobId: string, control?: req.CallControl): Promise<jobs.JobRecord> {
    const id = segment(jobId, "job_not_found");
    return await this.#ask(`POST /api/remember/${id}/retry`, { body: {}, signal: control?.signal });
  }

  /**
   * Polls a job until it is recallable or done, failed, or time is up; answers the last state seen,
   * so look at `status` and `recallable`.
   */
  waitFor(jobId: string, control: req.WaitControl = {}): Promise<jobs.JobRecord> {
    const { until = "recallable" } = control;
    const settled = (job: jobs.JobRecord): boolean => isSettled(job, until);
    const ask = (signal?: AbortSignal) => this.job(jobId, { signal });
    return poll(ask, settled, this.#polling(control));
  }

  /** As {@linkcode SvcClient.waitFor} for 1 to 20 jobs. */
  waitForAll(
    jobIds: readonly string[],
    control: req.WaitControl = {},
  ): Promise<jobs.JobStatuses> {
    const { until = "recallable" } = control;
    const settled = (answer: jobs.JobStatuses): boolean =>
      answer.results.every((job) => isSettled(job, until));
    const ask = (signal?: AbortSignal) => this.jobs(jobIds, { signal });
    return poll(ask, settled, this.#polling(control));
  }

  #polling(control: req.WaitControl): Polling {
    const { now, sleep } = this.#transport.options;
    return { timeoutMs: control.timeoutMs ?? 60_000, now, sleep, signal: control.signal };
  }

  /** Finds memories by meaning and words. */
  recall(
    query: string,
    fields?: req.RecallFields,
    control?: req.CallControl,
  ): Promise<recalls.Recalled> {
    const body = { ...fields, query };
    return this.#read("POST /api/recall", control, { body, decrypts: true });
  }

  /** Finds memories by vector; answers identifiers and distances only. */
  recallManual(
    vector: readonly number[],
    fields?: req.RecallManualFields,
    control?: req.CallControl,
  ): Promise<recalls.ManualRecalled> {
    return this.#read("POST /api/recall/manual", control, { body: { ...fields, vector } });
  }

  /** Answers a question from the memories. */
  ask(
    question: string,
    fields?: req.RecallFields,
    control?: req.CallControl,
  ): Promise<recalls.Answered> {
    const body = { ...fields, question };
    return this.#read("POST /api/ask", control, { body, decrypts: true });
  }

  /** Embeds a text; nothing is stored. */
  embed(text: string, control?: req.CallControl): Promise<recalls.Embedded> {
    return this.#read("POST /api/embed", control, { body: { text } });
  }

  /** Indexes what the blob store has and the index lacks; repeating it is harmless. */
  restore(
    namespace: string,
    limit?: number,
    control?: req.CallControl,
  ): Promise<memories.Restored> {
    const body = { namespace, limit };
    return this.#read("POST /api/restore", control, { body, decrypts: true });
  }

  /** One page of a namespace's memories. */
  memories(query: req.MemoryQuery = {}, control?: req.CallControl): Promise<memories.MemoryPage> {
    return this.#read(`GET /api/memories${queryOf(query)}`, control, { decrypts: true });
  }

  /** Every memory of a namespace, page by page. */
  async *allMemories(
    query: req.MemoryQuery = {},
    control?: req.CallControl,
  ): AsyncGenerator<memories.Memory, void, undefined> {
    let cursor = query.cursor;
    do {
      const page = await this.memories({ ...query, cursor }, control);
      yield* page.memories;
      cursor = page.next_cursor;
    } while (cursor !== undefined);
  }

  /** A memory and its versions. */
  async memory(memoryId: string, control?: req.CallControl): Promise<memories.MemoryWithVersions> {
    const id = segment(memoryId, "memory_not_found");
    return await this.#read(`GET /api/memories/${id}`, control, { decrypts: true });
  }

  /**
   * Replaces a memory; the old version is recalled until the new one is recallable. A relayer that
   * does not do this yet answers `method_not_allowed`, also where `featureFlags` in its `/version`
   * say `memories.manage`: that stands for listing, reading and deleting.
   */
  async updateMemory(
    memoryId: string,
    update: req.MemoryUpdate,
    control?: req.WriteControl,
  ): Promise<memories.UpdateAccepted> {
    return await this.#write(
      `PUT /api/memories/${segment(memoryId, "memory_not_found")}`,
      update,
      control,
    );
  }

  /** Deletes a memory with all its versions. */
  async deleteMemory(memoryId: string, control?: req.CallControl): Promise<memories.MemoryDeleted> {
    const id = segment(memoryId, "memory_not_found");
    return await this.#ask(`DELETE /api/memories/${id}`, { signal: control?.signal });
  }

  /** One page of namespaces. */
  namespaces(
    query: req.NamespaceQuery = {},
    control?: req.CallControl,
  ): Promise<memories.NamespacePage> {
    return this.#read(`GET /api/namespaces${queryOf(query)}`, control);
  }

  /** Numbers of a namespace, default `default`. */
  stats(namespace?: string, control?: req.CallControl): Promise<memories.Stats> {
    return this.#read("POST /api/stats", control, { body: { namespace } });
  }

  /** Deletes every memory of a namespace. */
  forget(namespace: string, control?: req.CallControl): Promise<memories.Forgotten> {
    return this.#ask("POST /api/forget", { body: { namespace }, signal: control?.signal });
  }

  /** The account, the key that signed, and the quota. */
  account(control?: req.CallControl): Promise<relayer.AccountInfo> {
    return this.#read("GET /api/account", control);
  }

  /** The account's keys, with when each was used last. */
  accountKeys(
    control?: req.CallControl,
  ): Promise<{ readonly keys: readonly relayer.ListedKey[] }> {
    return this.#read("GET /api/account/keys", control);
  }

  /**
   * Lines of an export (docs/protocol.md#10.11), parsed. It is complete only if the last one has
   * the type `end`. A relayer whose `featureFlags` in `/version` and `/health` do not say
   * `memories.export` answers `not_found`.
   */
  async *exportMemories(
    namespace?: string,
    control?: req.CallControl,
  ): AsyncGenerator<Record<string, unknown>, void, undefined> {
    const route = "POST /api/export";
    const call = { route, body: { namespace }, decrypts: true, signal: control?.signal } as const;
    for await (const line of readLines(await this.#transport.stream(call))) yield exportLine(line);
  }

  /**
   * Imports at most 200 memories; `ndjson` has the form of an export. A relayer whose `featureFlags`
   * in `/version` and `/health` do not say `memories.export` answers `not_found`.
   */
  importMemories(ndjson: string, control?: req.WriteControl): Promise<jobs.Imported> {
    return this.#write("POST /api/import", ndjson, control);
  }

  /** Health of the relayer, also when it is not well; not signed. */
  health(control?: req.CallControl): Promise<relayer.Health> {
    return this.#read("GET /health", control, { unsigned: true });
  }

  /** Versions and abilities of the relayer; not signed. */
  version(control?: req.CallControl): Promise<relayer.Version> {
    return this.#read("GET /version", control, { unsigned: true });
  }

  /** Public configuration of the relayer; not signed. */
  config(control?: req.CallControl): Promise<relayer.Config> {
    return this.#read("GET /config", control, { unsigned: true });
  }
}
