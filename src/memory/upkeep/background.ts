import { within } from "../../deadline.ts";
import type { Erasure } from "../remove/erasure.ts";
import type { ExpirySweeper } from "../remove/expiry.ts";
import type { TombstoneSender } from "../remove/tombstones.ts";
import { followBlobMoves } from "./blob_moves.ts";
import type { Reembedding } from "./reembedding.ts";

/** What goes on beside requests and jobs. */
type Upkeep = Parameters<typeof followBlobMoves>[0] & {
  readonly tombstoneSender: TombstoneSender;
  readonly reembedding: Reembedding;
  readonly expiry: ExpirySweeper;
  readonly erasure: Erasure;
};

/** Starts what goes on beside requests and jobs; dispose to stop. */
export async function startBackground(domain: Upkeep): Promise<AsyncDisposable> {
  const { tombstoneSender, reembedding, expiry, erasure } = domain;
  await using stack = new AsyncDisposableStack();
  stack.use(bounded(tombstoneSender));
  tombstoneSender.notify();
  stack.use(followBlobMoves(domain));
  stack.use(bounded(reembedding));
  await reembedding.start();
  stack.use(bounded(expiry));
  expiry.start();
  stack.use(bounded(erasure));
  erasure.start();
  return stack.move();
}

/** Longest wait for aborted work to end, milliseconds. */
const PUT_DOWN_MS = 1_000;

/** Disposes of something that waits for its backends, at most a second: one may ignore its signal. */
export function bounded(subject: AsyncDisposable): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      await within(PUT_DOWN_MS, Promise.resolve(subject[Symbol.asyncDispose]()));
    },
  };
}
