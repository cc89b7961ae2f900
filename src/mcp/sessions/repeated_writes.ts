import type { RequestId } from "@modelcontextprotocol/server";
import { BoundedMap } from "../../bounded_map.ts";
import type { ToolName } from "../../wire/table/tools.ts";
import { processHash } from "../bearer.ts";

/** How long a write of a broken session is recognised, in milliseconds. */
const MEMORY_MS = 60_000;
const MOST_OF_A_SESSION = 64;
const MOST = 10_000;

interface SessionWrites {
  /** Idempotency key of a write: that of an equal one of a session that broke a moment ago, or new. */
  keyOf(tool: ToolName, given: unknown, requestId: RequestId): string;
  /** Remembers the session's writes, which has ended. */
  end(): void;
}

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
    const own = new BoundedMap<string, string>(MOST_OF_A_SESSION);
    return {
      keyOf: (tool, given, requestId) => {
        const id = processHash(JSON.stringify([credentials, tool, given, requestId]));
        const broken = this.#broken.get(id);
        const isKnown = broken !== undefined && this.#now() < broken.until;
        const key = isKnown ? broken.key : crypto.randomUUID();
        own.set(id, key);
        return key;
      },
      end: () => {
        const now = this.#now();
        for (const [id, key] of own) this.#broken.set(id, { key, until: now + MEMORY_MS });
        this.#broken.deleteWhile(({ until }) => now >= until);
      },
    };
  }
}
