import type { KeyStore } from "../plugin.ts";
import { followBlobMoves } from "./blob_moves.ts";
import type { Domain } from "./domain.ts";
import { ExpirySweeper } from "./expiry.ts";
import { startReembedding } from "./reembedding.ts";
import { tombstoneSenderOf } from "./tombstone_blobs.ts";

/** Starts what goes on beside requests and jobs; dispose to stop. */
export async function startBackground(
  domain: Domain,
  keys: Pick<KeyStore, "get">,
): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  stack.use(tombstoneSenderOf(domain)).notify();
  stack.use(followBlobMoves(domain));
  stack.use(await startReembedding(domain, keys));
  stack.use(new ExpirySweeper(domain));
  return stack.move();
}
