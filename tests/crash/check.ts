import type { Ledger, Sent } from "./ledger.ts";
import { call, type Identity, type Item, listAll } from "./wire.ts";

/** What is wrong with the memories after the last start; all 0 when nothing is. */
export interface Findings {
  /** Accepted, not deleted, and not there or another text. */
  lost: number;
  /** There, and not found by a recall of its own text. */
  unfound: number;
  /** There more than once. */
  doubled: number;
  /** Jobs that did not end as done, of memories that were not deleted. */
  stuck: number;
  /** Deleted, and still there. */
  resurrected: number;
  /** There, and never sent. */
  strange: number;
  /** Blobs no memory refers to. */
  orphans: number;
}

const QUERY_BYTES = 65_536;

/** Works on many items with some clients at once. */
export async function eachOf<T>(
  items: readonly T[],
  clients: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  await Promise.all(Array.from({ length: clients }, async () => {
    for (const item of rest) await work(item);
  }));
}

/** The longest start of a text that is allowed as a query. */
function queryOf(text: string): string {
  const bytes = new Uint8Array(QUERY_BYTES);
  const { read } = new TextEncoder().encodeInto(text, bytes);
  return text.slice(0, read);
}

const markOf = (item: Item): string | undefined => item.text ?? item.metadata?.["mark"];

/** Compares what a relayer has with what its clients know. */
export class Check {
  readonly #ledger: Ledger;
  readonly #identity: Identity;
  readonly #url: string;
  readonly #findings: Findings = {
    lost: 0,
    unfound: 0,
    doubled: 0,
    stuck: 0,
    resurrected: 0,
    strange: 0,
    orphans: 0,
  };

  /** Prepares a check of an idle relayer. */
  constructor(ledger: Ledger, identity: Identity, url: string) {
    this.#ledger = ledger;
    this.#identity = identity;
    this.#url = url;
  }

  /** Looks at every memory, job and blob. */
  async run(): Promise<Findings> {
    const namespaces = [...new Set(this.#ledger.sent.map((sent) => sent.namespace))];
    // The answers are opened memories: before anything else is asked, and after a restore again.
    await this.#lists(namespaces);
    await eachOf(this.#ledger.sent, 8, (sent) => this.#recall(sent));
    await this.#jobs();
    for (const namespace of namespaces) await this.#restore(namespace);
    return this.#findings;
  }

  async #lists(namespaces: readonly string[]): Promise<void> {
    const byId = new Map<string, Item>();
    const byMark = new Map<string, number>();
    for (const namespace of namespaces) {
      for (const item of await listAll(this.#url, this.#identity, namespace)) {
        if (byId.has(item.memory_id)) this.#findings.doubled++;
        byId.set(item.memory_id, item);
        const mark = markOf(item) ?? "";
        byMark.set(mark, (byMark.get(mark) ?? 0) + 1);
      }
    }
    const sent = new Set(this.#ledger.sent.map(({ text }) => text));
    for (const [mark, count] of byMark) {
      if (!sent.has(mark)) this.#findings.strange++;
      if (count > 1) this.#findings.doubled++;
    }
    for (const { id, text, deletion } of this.#ledger.sent) {
      if (id === undefined) continue;
      const item = byId.get(id);
      if (deletion === undefined && (item === undefined || markOf(item) !== text)) {
        this.#findings.lost++;
      }
      if (deletion === "answered" && item !== undefined) this.#findings.resurrected++;
    }
  }

  async #recall({ id, text, namespace, vector, deletion }: Sent): Promise<void> {
    if (id === undefined || deletion === "asked") return;
    const { status, body } = await call(
      this.#url,
      this.#identity,
      vector === undefined
        ? { route: "POST /api/recall", body: { query: queryOf(text), namespace, limit: 5 } }
        : { route: "POST /api/recall/manual", body: { vector, namespace, limit: 5 } },
    );
    const isFound = status === 200 && body.results.some((hit) => hit.memory_id === id);
    if (deletion === undefined && !isFound) this.#findings.unfound++;
    if (deletion === "answered" && isFound) this.#findings.resurrected++;
  }

  async #jobs(): Promise<void> {
    const sent = this.#ledger.sent.filter(({ id }) => id !== undefined);
    const parts: Sent[][] = [];
    for (let i = 0; i < sent.length; i += 20) parts.push(sent.slice(i, i + 20));
    await eachOf(parts, 8, async (part) => {
      const body = { job_ids: part.map(({ id }) => id) };
      const route = "POST /api/remember/bulk/status";
      const answer = await call(this.#url, this.#identity, { route, body });
      for (const [i, { status }] of answer.body.results.entries()) {
        const isDeleted = part[i]!.deletion !== undefined;
        if (status !== "done" && !(isDeleted && status === "failed")) this.#findings.stuck++;
      }
    });
  }

  /** A restore finds nothing that is missing. */
  async #restore(namespace: string): Promise<void> {
    const route = "POST /api/restore";
    const counts = await call(this.#url, this.#identity, { route, body: { namespace, limit: 0 } });
    this.#findings.orphans += counts.body.remaining;
    if (counts.body.remaining === 0) return;
    const { body } = await call(this.#url, this.#identity, {
      route,
      body: { namespace, limit: 500 },
    });
    this.#findings.resurrected += body.restored;
  }
}
