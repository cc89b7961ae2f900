import type { KeyStore } from "../../interfaces/plugin.ts";
import { bounded } from "../bounded_disposal.ts";
import { followBlobMoves } from "./blob_moves.ts";
import type { Domain } from "../domain.ts";
import { ExpirySweeper } from "../remove/expiry.ts";
import { startReembedding } from "./reembedding.ts";
import { tombstoneSenderOf } from "../remove/tombstone_blobs.ts";

/** Starts what goes on beside requests and jobs; dispose to stop. */
export async function startBackground(
  domain: Domain,
  keys: Pick<KeyStore, "get">,
): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const sender = tombstoneSenderOf(domain);
  stack.use(bounded(sender));
  sender.notify();
  stack.use(followBlobMoves(domain));
  stack.use(bounded(await startReembedding(domain, keys)));
  stack.use(bounded(new ExpirySweeper(domain)));
  return stack.move();
}
