import type { Uses } from "../parts.ts";
import type { BlobLink, BlobMove, BlobStore, Scope } from "../../interfaces/mod.ts";
import { scopeKey } from "../../interfaces/scope_key.ts";

/** Where it is noted which blob a memory is in. */
export type Linking = Uses<{
  vectorStore: "link";
  index: "read" | "applyLinks";
  tombstoneBlobs: "isTombstone" | "sent";
  versions: "moved";
}>;

/** Links memories anew whose blobs the store moved. */
export function followBlobMoves(
  domain: Linking & { readonly blobStore: Pick<BlobStore, "watchMoves"> },
): Disposable | undefined {
  return domain.blobStore.watchMoves?.(async (moves) => {
    for (const group of Map.groupBy(moves, scopeKey).values()) await linkMoved(domain, group);
  });
}

/** Links the memories of one scope anew whose blobs moved. */
export async function linkMoved(domain: Linking, moves: readonly BlobMove[]): Promise<void> {
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
  domain.versions.moved(scope, moves);
  for (const { from, to } of moves) {
    if (domain.tombstoneBlobs.isTombstone(scope, from)) domain.tombstoneBlobs.sent(scope, to);
  }
}
