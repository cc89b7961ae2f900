import type { RequestId } from "@modelcontextprotocol/server";
import { BoundedMap } from "../../bounded_map.ts";
import type { ToolName } from "../../wire/table/tools.ts";
import { processHash } from "../bearer.ts";

/** How long a write of a broken session is recognised, in milliseconds. */
const MEMORY_MS = 60_000;
const MOST_OF_A_SESSION = 64;
const MOST = 10_000;

/**
 * Recognises writes that a bridge sends again after its connection broke (docs/protocol.md#17.2):
 * same key, tool, arguments and JSON-RPC id, within 60 s after the session of the first one ended.
 */
export class RepeatedWrites {
  readonly #now: () => number;
  /** Idempotency keys of broken sessions, oldest first. */
  readonly #broken = new BoundedMap<string, { readonly key: string; readonly until: number }>(MOST);

  /** `now`: milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Watches one session of some credentials. */
  session(credentials: string): SessionWrites {
    return new SessionWrites(credentials, this);
  }

  /** The idempotency key of a write of a session that broke a moment ago. */
  take(id: string): string | undefined {
    const found = this.#broken.get(id);
    return found !== undefined && this.#now() < found.until ? found.key : undefined;
  }

  /** Takes over the writes of a session that ended. */
  keep(writes: ReadonlyMap<string, string>): void {
    const now = this.#now();
    for (const [id, key] of writes) this.#broken.set(id, { key, until: now + MEMORY_MS });
    this.#broken.deleteWhile(({ until }) => now >= until);
  }
}

class SessionWrites {
  readonly #credentials: string;
  readonly #all: RepeatedWrites;
  readonly #own = new BoundedMap<string, string>(MOST_OF_A_SESSION);

  constructor(credentials: string, all: RepeatedWrites) {
    this.#credentials = credentials;
    this.#all = all;
  }

  /** Idempotency key of a write. */
  keyOf(tool: ToolName, given: unknown, requestId: RequestId): string {
    const id = processHash(JSON.stringify([this.#credentials, tool, given, requestId]));
    const key = this.#all.take(id) ?? crypto.randomUUID();
    this.#own.set(id, key);
    return key;
  }

  end(): void {
    this.#all.keep(this.#own);
  }
}
