import type { Ledger, Sent } from "./ledger.ts";
import { below, someText, textOf } from "./texts.ts";
import { type Answer, type Identity, type Parts, send, sign } from "./wire.ts";

/** Whether a request whose connection broke is given up, or sent until it is answered. */
type Insist = "never" | "same key" | "same bytes";

/** Where the relayer is at the moment. */
export interface Target {
  /** Address of the relayer; waits while there is none. */
  url(): Promise<string>;
  /** Length of its vectors. */
  readonly dimensions: number;
}

const NAMESPACES = ["default", "work", "home"];

/** Clients that write, delete and read, and keep a ledger of what they were answered. */
export class Load {
  readonly #ledger: Ledger;
  readonly #identity: Identity;
  readonly #target: Target;
  #isOver = false;
  #ahead = 0;
  #manuals = 0;

  /** Prepares clients of one key. */
  constructor(ledger: Ledger, identity: Identity, target: Target) {
    this.#ledger = ledger;
    this.#identity = identity;
    this.#target = target;
  }

  /** Lets every client finish what it has begun. */
  stop(): void {
    this.#isOver = true;
  }

  /** Works with several clients until stopped. */
  async run(clients: number): Promise<void> {
    await Promise.all(Array.from({ length: clients }, async () => {
      while (!this.#isOver) await this.#something();
    }));
  }

  async #something(): Promise<void> {
    const dice = Math.random();
    if (dice < 0.25) return await this.#remember("never");
    if (dice < 0.48) return await this.#remember("same key");
    if (dice < 0.68) return await this.#remember("same bytes");
    if (dice < 0.74) return await this.#bulk();
    if (dice < 0.84) return await this.#manual();
    if (dice < 0.96) return await this.#delete();
    return await this.#recall();
  }

  async #remember(insist: Insist): Promise<void> {
    const sent = this.#ledger.add(NAMESPACES[below(3)]!, someText());
    const { text, namespace } = sent;
    const answer = await this.#ask(
      { route: "POST /api/remember", body: { text, namespace } },
      insist,
    );
    if (this.#isStatus(answer, 202)) sent.id = answer.body.memory_id;
    // Deleted while its job waits or runs.
    if (sent.id !== undefined && Math.random() < 0.05) await this.#remove(sent);
  }

  async #bulk(): Promise<void> {
    const sent = Array.from({ length: 20 }, () => {
      return this.#ledger.add(NAMESPACES[below(3)]!, textOf(24 + below(200)));
    });
    const items = sent.map(({ text, namespace }) => ({ text, namespace }));
    const insist = Math.random() < 0.5 ? "same key" : "same bytes";
    const answer = await this.#ask({ route: "POST /api/remember/bulk", body: { items } }, insist);
    if (!this.#isStatus(answer, 202)) return;
    for (const [i, item] of sent.entries()) item.id = answer.body.job_ids[i]!;
  }

  async #manual(): Promise<void> {
    const vector = Array.from({ length: this.#target.dimensions }, () => Math.random() - 0.5);
    const sent = this.#ledger.add("manual", textOf(30), vector);
    const body = {
      namespace: "manual",
      vector,
      // Of a length of its own: while equally long ones wait, the blob of a deleted one is kept.
      encrypted_data: crypto.getRandomValues(new Uint8Array(16 + this.#manuals++)).toBase64(),
      metadata: { mark: sent.text },
    };
    const answer = await this.#ask({ route: "POST /api/remember/manual", body }, "same key");
    if (this.#isStatus(answer, 200, 202)) sent.id = answer.body.memory_id;
  }

  async #delete(): Promise<void> {
    const sent = this.#ledger.some(below);
    if (sent !== undefined) await this.#remove(sent);
  }

  async #remove(sent: Sent): Promise<void> {
    sent.deletion = "asked";
    const insist = Math.random() < 0.5 ? "same key" : "same bytes";
    const answer = await this.#ask({ route: `DELETE /api/memories/${sent.id}` }, insist);
    // 404: an earlier try came through, and only its answer was lost.
    if (this.#isStatus(answer, 200, 404)) sent.deletion = "answered";
  }

  /** A recall after the 202 sees the memory, or says that jobs are pending. */
  async #recall(): Promise<void> {
    const sent = this.#ledger.add("default", textOf(60));
    const { text, namespace } = sent;
    const written = await this.#ask(
      { route: "POST /api/remember", body: { text, namespace } },
      "same key",
    );
    if (!this.#isStatus(written, 202)) return;
    const id = written.body.memory_id;
    const body = { query: text, namespace, limit: 5 };
    const answer = await this.#ask({ route: "POST /api/recall", body }, "same key");
    // Known to the other clients from now on, who may delete it.
    sent.id = id;
    if (!this.#isStatus(answer, 200)) return;
    const isThere = answer.body.results.some((hit) => hit.memory_id === id);
    if (!isThere && !(answer.body.pending! > 0)) {
      this.#ledger.problems.push("a recall after the 202 did not see the memory");
    }
  }

  #isStatus(answer: Answer | undefined, ...expected: number[]): answer is Answer {
    if (answer === undefined) return false;
    if (expected.includes(answer.status)) return true;
    this.#ledger.problems.push(`${answer.status} ${answer.body.code}`);
    return false;
  }

  async #ask(parts: Parts, insist: Insist): Promise<Answer | undefined> {
    const keyed = insist === "same key" && parts.route.startsWith("POST /api/remember")
      ? { ...parts, idempotencyKey: crypto.randomUUID() }
      : parts;
    const form = insist === "same bytes" ? "legacy" : "nonce";
    const signed = () => sign(this.#identity, { ...keyed, form, ahead: this.#ahead });
    let request = await signed();
    if (request.body !== undefined) this.#ledger.bodyHashes.add(request.bodySha256);
    for (;;) {
      const url = await this.#target.url();
      let answer: Answer;
      try {
        answer = await send(url, request);
      } catch {
        this.#ledger.broken++;
        if (insist === "never") return undefined;
        if (insist === "same key") request = await signed();
        continue;
      }
      if (answer.headers.get("idempotency-replayed") === "true") this.#ledger.replayed++;
      const { code } = answer.body;
      if (code === "timestamp_out_of_range") {
        // Signed before the crash, as the relayer sees it: a later time is believed.
        this.#ahead = 3;
      } else if (code === "nonce_reused") {
        this.#ledger.problems.push("a nonce that was sent once is said to be used");
      } else if (answer.status !== 503) return answer;
      if (insist !== "same bytes") request = await signed();
    }
  }
}
