import type { BlobLink, BlobMove, Scope } from "../../interfaces/mod.ts";
import type { Domain } from "../domain.ts";

const nothing: Disposable = { [Symbol.dispose]() {} };

/** Links memories anew whose blobs the store moved. */
export function followBlobMoves(domain: Domain): Disposable {
  return domain.blobStore.watchMoves?.(async (moves) => {
    const scopes = Map.groupBy(moves, ({ owner, namespace }) => `${owner}\n${namespace}`);
    for (const group of scopes.values()) await linkMoved(domain, group);
  }) ?? nothing;
}

/** Links the memories of one scope anew whose blobs moved. */
export async function linkMoved(domain: Domain, moves: readonly BlobMove[]): Promise<void> {
  const [first] = moves;
  if (first === undefined) return;
  const scope: Scope = { owner: first.owner, namespace: first.namespace };
  const targets = new Map(moves.map(({ from, to }) => [from, to]));
  const links = await domain.index.read(
    scope,
    (loaded) =>
      loaded.entries().flatMap(({ id, version, blobId }): BlobLink[] => {
        const to = blobId === undefined ? undefined : targets.get(blobId);
        return to === undefined ? [] : [{ id, version, blobId: to }];
      }),
  );
  if (links.length > 0) {
    await domain.vectorStore.link(scope, links);
    domain.index.applyLinks(scope, links);
  }
  for (const { from, to } of moves) {
    if (domain.tombstoneBlobs.isTombstone(scope, from)) domain.tombstoneBlobs.sent(scope, to);
  }
}
