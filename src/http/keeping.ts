import { SvcError } from "../errors.ts";
import type { Note } from "../interfaces/mod.ts";
import type { AnswerNote, Kept, KeptAnswer, Replay } from "../jobs/replay.ts";
import type { AuthHeaders } from "./auth.ts";
import type { Route } from "../wire/route.ts";

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** What of a request is needed to know it again. */
interface KeptRequest {
  readonly auth: Pick<AuthHeaders, "nonce" | "publicKey">;
  readonly bodyHash: string;
  readonly route: { readonly row: Route };
  readonly text: string | undefined;
}

/** What is committed with the answer of one request: its nonce, and the answer for replays. */
export class Keeping {
  readonly #replay: Replay;
  readonly #bodyHash: string;
  /** Under what the answer is kept; neither where it is not. */
  readonly textKey: string | undefined;
  idempotencyKey: string | undefined;
  readonly nonce: Note | undefined;
  /** Whether a commit took the nonce along. */
  hasNonce = false;
  /** Whether a commit that failed was to take it along. */
  #mayHaveNonce = false;
  /** The answer that was kept last. */
  kept: KeptAnswer | undefined;
  /** What keeps it. */
  #notes: readonly AnswerNote[] = [];

  constructor(
    replay: Replay,
    { bodyHash, auth, route, text }: KeptRequest,
    nonce: Note | undefined,
  ) {
    this.#replay = replay;
    this.#bodyHash = bodyHash;
    this.nonce = nonce;
    this.textKey = auth.nonce === undefined && route.row.writes
      ? `text ${auth.publicKey} ${text}`
      : undefined;
  }

  get keys(): string[] {
    return [this.textKey, this.idempotencyKey].filter((key) => key !== undefined);
  }

  /**
   * Uses the nonce up unless a commit did. One whose answer was lost may have done so: that it is used
   * is then no news.
   *
   * @throws {SvcError} `nonce_reused`, where relayers share a store.
   */
  async useNonce(): Promise<void> {
    if (this.nonce === undefined || this.hasNonce) return;
    try {
      await this.#replay.later(this.nonce);
    } catch (error) {
      if (!this.#mayHaveNonce || SvcError.from(error).code !== "nonce_reused") throw error;
    }
  }

  /** An answer with everything that its commit has to write. */
  keep<A extends Answer>(answer: A): Kept<A> {
    const { nonce } = this;
    this.hasNonce = true;
    const notes = this.#notesOf(answer);
    return { answer, mutations: nonce === undefined ? notes : [nonce, ...notes] };
  }

  /** What keeps the final answer, in place of one that a commit has kept already. */
  keepFinal(answer: Answer): readonly Note[] {
    if (this.kept === undefined) return this.keep(answer).mutations;
    const before = this.#notes;
    // Without the nonce, which that commit took along: it would be refused as used.
    return this.#notesOf(answer).map((note, i) => ({ ...note, replaces: before[i]!.answer }));
  }

  #notesOf(answer: Answer): AnswerNote[] {
    const { textKey, idempotencyKey } = this;
    if (textKey === undefined && idempotencyKey === undefined) return [];
    const kept = { status: answer.status, body: JSON.stringify(answer.body) };
    this.kept = kept;
    const notes: AnswerNote[] = [];
    if (textKey !== undefined) notes.push(this.#replay.keepText(textKey, this.#bodyHash, kept));
    if (idempotencyKey !== undefined) {
      notes.push(this.#replay.keepIdempotent(idempotencyKey, this.#bodyHash, kept));
    }
    this.#notes = notes;
    return notes;
  }

  /** After a failure: nothing was committed, and the same text may be sent again. */
  undo(): void {
    this.#mayHaveNonce ||= this.hasNonce;
    this.hasNonce = false;
    if (this.textKey !== undefined) this.#replay.dropText(this.textKey);
  }
}

/** An answer, at the end of which something is disposed of. */
export function lasting(response: Response, held: Disposable): Response {
  const { body, status, headers } = response;
  if (body === null) {
    held[Symbol.dispose]();
    return response;
  }
  const done = () => held[Symbol.dispose]();
  const watched = body.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      flush: done,
      cancel: done,
    }),
  );
  return new Response(watched, { status, headers });
}
