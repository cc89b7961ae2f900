import { bounded } from "../bounded_disposal.ts";
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
