import assert from "node:assert/strict";
import type { SvcClient } from "../../src/client/mod.ts";
import { pause } from "../../src/deadline.ts";
import { SvcError } from "../../src/errors.ts";
import { poll } from "../within.ts";
import { allTexts } from "./owners.ts";

/** Random numbers that a seed repeats. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
}

/**
 * Codes behind which another try may succeed: somebody was ended, or has a wrong clock; or the
 * platform sent a deletion twice by itself, whose first answer nobody saw.
 */
const AGAIN: readonly string[] = ["internal_error", "timestamp_out_of_range", "nonce_reused"];

/** Whether a call is tried again: nobody said whether it happened, or that it may be repeated. */
function isAgain(error: unknown): boolean {
  return !(error instanceof SvcError) || error.retryable || AGAIN.includes(error.code);
}

/** Until when a call must have been answered, milliseconds. */
const PATIENCE_MS = 60_000;

/**
 * An owner who remembers, corrects, deletes and recalls, one after the other, and sees at once what
 * is lost, doubled, brought back or stale. What was not answered is asked again, of any client.
 */
export class Person {
  readonly #clients: readonly SvcClient[];
  readonly #random: () => number;
  /** Texts by memory, as they must be recalled. */
  readonly #kept = new Map<string, string>();
  readonly #gone: string[] = [];
  #count = 0;
  readonly #name: string;
  /** Calls that were answered, and of these, memories that were accepted. */
  calls = 0;
  accepted = 0;
  /** When the last call was begun that was answered, by the clock of `performance`. */
  #lastBegun = -Infinity;

  /** @param clients One for each door that is asked at random. */
  constructor(name: string, clients: readonly SvcClient[], random: () => number) {
    this.#name = name;
    this.#clients = clients;
    this.#random = random;
  }

  /** Whether a call was answered that was begun after a time of `performance`. */
  isServedSince(time: number): boolean {
    return this.#lastBegun >= time;
  }

  /** Asks until somebody answers. */
  async #ask<T>(call: (client: SvcClient) => Promise<T>): Promise<T> {
    const start = performance.now();
    for (;;) {
      const begun = performance.now();
      try {
        const client = this.#clients[Math.floor(this.#random() * this.#clients.length)]!;
        const answer = await call(client);
        this.calls++;
        this.#lastBegun = begun;
        return answer;
      } catch (error) {
        if (!isAgain(error)) throw error;
        if (performance.now() - start > PATIENCE_MS) throw error;
        await pause(20);
      }
    }
  }

  #text(): string {
    return `${this.#name} says number${this.#name}x${this.#count++}`;
  }

  /** What is recalled, once nothing waits: an answer says when something is not recallable yet. */
  async #found(text: string): Promise<string[]> {
    const word = text.split(" ").at(-1)!;
    const { results } = await poll(
      () => this.#ask((client) => client.recall(word, { mode: "keyword", limit: 5 })),
      ({ pending = 0 }) => pending === 0,
    );
    return results.map((hit) => hit.text);
  }

  /**
   * Does something.
   *
   * @throws {Error} when what was answered before does not hold.
   */
  async step(): Promise<void> {
    const known = [...this.#kept.keys()];
    const any = known[Math.floor(this.#random() * known.length)];
    const dice = this.#random();
    const idempotencyKey = crypto.randomUUID();
    if (any === undefined || dice < 0.5) {
      const text = this.#text();
      const { memory_id: id } = await this.#ask((client) =>
        client.remember(text, {}, { idempotencyKey })
      );
      this.#kept.set(id, text);
      this.accepted++;
      assert.equal((await this.#found(text))[0], text, "what was accepted is found");
    } else if (dice < 0.65) {
      const text = this.#text();
      const before = this.#kept.get(any)!;
      await this.#ask((client) => client.updateMemory(any, { text }, { idempotencyKey }));
      this.#kept.set(any, text);
      assert.equal((await this.#found(text))[0], text, "what was corrected is found");
      assert.ok(!(await this.#found(before)).includes(before), "what it replaced is not");
    } else if (dice < 0.8) {
      const before = this.#kept.get(any)!;
      await this.#ask((client) =>
        client.deleteMemory(any).catch((error) => {
          if (error?.code !== "memory_not_found") throw error;
        })
      );
      this.#kept.delete(any);
      this.#gone.push(before);
      assert.ok(!(await this.#found(before)).includes(before), "what was deleted is not found");
    } else {
      const text = this.#kept.get(any)!;
      assert.equal((await this.#found(text))[0], text, "what was said long ago is found");
    }
  }

  /** Compares everything that is there with what was answered. */
  async check(): Promise<void> {
    const all = await allTexts((call) => this.#ask(call));
    assert.deepEqual(all, [...this.#kept.values()].sort());
  }
}
