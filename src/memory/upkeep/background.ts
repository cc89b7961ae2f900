import { within } from "../../deadline.ts";
import { followBlobMoves } from "./blob_moves.ts";
import type { Domain } from "../domain.ts";
import { ExpirySweeper } from "../remove/expiry.ts";

/** Starts what goes on beside requests and jobs; dispose to stop. */
export async function startBackground(domain: Domain): Promise<AsyncDisposable> {
  const { tombstoneSender, reembedding, expiries } = domain;
  await using stack = new AsyncDisposableStack();
  stack.use(bounded(tombstoneSender));
  tombstoneSender.notify();
  stack.use(followBlobMoves(domain));
  stack.use(bounded(reembedding));
  await reembedding.start();
  stack.use(bounded(new ExpirySweeper(domain, expiries)));
  return stack.move();
}

/** As long as work that was told to end may take, milliseconds. */
const PUT_DOWN_MS = 1_000;

/** Disposes of something that waits for its backends, at most a second: one may ignore its signal. */
export function bounded(subject: AsyncDisposable): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      await within(PUT_DOWN_MS, Promise.resolve(subject[Symbol.asyncDispose]()));
    },
  };
}
