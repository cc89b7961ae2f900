import { RpcFault } from "../failure.ts";

const DEFAULT_SIZE = 50;
const MOST = 1000;

/** One page of a list. */
export interface Page<T> {
  /** Its items. */
  readonly items: readonly T[];
  /** Where the next page begins; undefined after the last. */
  readonly next: Uint8Array | undefined;
}

/**
 * A page of a list that is sorted by id. The token is the last id, so that what is added or removed
 * between two pages neither repeats nor hides anything else.
 *
 * @param size 0 or absent for 50; at most 1000.
 */
export function pageOf<T extends { readonly id: string }>(
  all: readonly T[],
  size: number | undefined,
  token: Uint8Array | undefined,
): Page<T> {
  const limit = Math.min(size || DEFAULT_SIZE, MOST);
  const after = token === undefined || token.length === 0 ? "" : `0x${token.toHex()}`;
  if (after !== "" && token?.length !== 32) {
    throw new RpcFault("INVALID_ARGUMENT", "invalid page_token");
  }
  const rest = all.filter(({ id }) => id > after);
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return {
    items,
    next: rest.length > limit && last !== undefined
      ? Uint8Array.fromHex(last.id.slice(2))
      : undefined,
  };
}
