import type { Role } from "../../interfaces/mod.ts";
import { copyActivity } from "./activity.ts";
import { openDataKey } from "../../sealing/data_key.ts";
import type { RelayerKey } from "../../sealing/relayer_key.ts";
import type { MoveMark } from "../../storage/core_rows.ts";
import { COMMON } from "../../storage/ledger_mirror.ts";
import { invalid } from "../invalid.ts";
import { Copying, type CopyOptions, type Moved } from "./copying.ts";
import {
  type OpenPlace,
  openPlace,
  openRoles,
  ownersOf,
  type Place,
  type PlaceOptions,
  requireAlone,
} from "./place.ts";

export type { Moved };

/** What is moved. */
export interface MoveOptions extends CopyOptions {
  readonly from: PlaceOptions;
  readonly to: PlaceOptions;
  readonly relayerKey: RelayerKey;
  /** Where the key comes from, for messages. */
  readonly relayerKeySource: string;
}

/** Which move it is, after the marks of both places; `isEnded` when all is there. */
function agreeOn(from: Place, to: Place): { readonly id: string; readonly isEnded: boolean } {
  const [here, there] = [from.core.rows.mark, to.own.rows.mark ?? to.core.rows.mark];
  if (here?.role === "to") from.core.requireHere();
  if (here !== undefined && there?.role === "to" && there.id === here.id) {
    return { id: here.id, isEnded: here.endedAt !== undefined };
  }
  if (here?.endedAt !== undefined) from.core.requireHere();
  if (!to.isEmpty || there !== undefined) {
    throw invalid(`${to.dataDir} holds something else: name an empty folder`);
  }
  return { id: here?.id ?? crypto.randomUUID(), isEnded: false };
}

async function setMark(place: Place, mark: MoveMark | undefined): Promise<void> {
  place.core.rows.mark = mark;
  await place.shared?.mirror.flush(COMMON);
}

/** Refuses a shared store that holds something of others: rows of theirs would be among its own. */
async function requireEmpty(
  { name, shared, core, backends }: OpenPlace,
  { id, owners, stays = new Set() }: Pick<MoveOptions, "stays"> & {
    readonly id: string;
    readonly owners: readonly string[];
  },
): Promise<void> {
  if (shared === undefined || core.rows.mark?.id === id) return;
  const { accounts, vectorStore } = backends;
  const { rows } = await shared.store.ledger.read(COMMON);
  let count = rows.length;
  if (!stays.has("accounts")) count += (await accounts.admin?.list() ?? []).length;
  for (const owner of stays.has("vectorStore") ? [] : owners) {
    count += (await vectorStore.scopes(owner)).length;
  }
  if (count > 0) throw invalid(`${name} holds something else: make an empty database`);
}

/** Reads what is known of all, which the key opens. */
async function unlock({ shared }: Place, key: RelayerKey): Promise<void> {
  shared?.mirror.sealWith(key.sealer("ledger"));
  await shared?.mirror.load(COMMON);
}

/** Brings over what is known of all, with it the key that everything is sealed under. */
async function copyCommon(from: Place, to: Place, key: RelayerKey): Promise<void> {
  to.shared?.mirror.sealWith(key.sealer("ledger"));
  to.core.rows.put(from.core.rows.of(COMMON));
  await to.shared?.mirror.flush(COMMON);
}

/** Refuses what would not come over whole, before anything is marked. */
async function requireMovable(
  { name, backends }: OpenPlace,
  stays: ReadonlySet<Role> = new Set(),
): Promise<void> {
  if (backends.accounts.admin === undefined) {
    throw invalid(
      `${name}: accounts on a chain cannot be listed, so that nobody knows whose to move`,
    );
  }
  const outdated = stays.has("vectorStore") ? [] : await backends.vectorStore.outdated?.() ?? [];
  if (outdated.length === 0) return;
  throw invalid(
    `${name} holds vectors of another model: let its relayer run until it has embedded them anew`,
  );
}

/** Marks both places for good, in an order in which never both of them can be used. */
async function end(from: Place, to: Place, id: string): Promise<void> {
  const { endedAt = Date.now() } = from.core.rows.mark ?? {};
  await setMark(from, { id, role: "from", other: to.name, endedAt });
  await setMark(to, undefined);
  to.own.rows.mark = undefined;
}

/**
 * Brings everything that a relayer keeps to another place, where nothing is yet, under the same key;
 * reads it there again, and lets the place that it came from be used no more. It may be ended at any
 * moment and goes on when it is run again.
 *
 * @throws {SvcError} `invalid_parameter` while a relayer runs on either place, where the other one holds
 * something else, and where it cannot be brought over whole; `storage_unavailable` where a store fails,
 * or the copy differs.
 */
export async function move(options: MoveOptions): Promise<Moved | undefined> {
  await using stack = new AsyncDisposableStack();
  const from = await openPlace(options.from, stack);
  if (!from.core.isBound) throw invalid(`There is nothing in ${from.name} yet`);
  const to = await openPlace(options.to, stack);
  const { id, isEnded } = agreeOn(from, to);
  if (isEnded) return void await end(from, to, id);
  const { relayerKey, relayerKeySource } = options;
  const key = openDataKey(from.core, relayerKey, relayerKeySource, from.name);
  await unlock(from, key);
  const source = await openRoles(from, options.from.backends, key, { embedder: undefined, stack });
  await requireMovable(source, options.stays);
  const { embedder } = source.backends;
  const openTarget = () => openRoles(to, options.to.backends, key, { embedder, stack });
  // A folder gets its mark before its files.
  const shared = to.shared === undefined ? undefined : await openTarget();
  if (shared !== undefined) {
    const owners = await ownersOf(source);
    await requireEmpty(shared, { ...options, id, owners });
  }
  await setMark(from, { id, role: "from", other: to.name });
  const mark: MoveMark = { id, role: "to", other: from.name };
  to.own.rows.mark = mark;
  await setMark(to, mark);
  // A relayer that was starting has seen the mark, or is seen.
  for (const place of [from, to]) {
    if (place.shared !== undefined) await requireAlone(place.name, place.shared.store.owners);
  }
  await copyCommon(from, to, key);
  const target = shared ?? await openTarget();
  const moved = await new Copying(source, target, options).run();
  await copyActivity(source, target, key);
  await end(from, to, id);
  return moved;
}

/**
 * Lets a place be used again from which a move was begun that has not ended. What it brought to the
 * other place is worth nothing.
 *
 * @throws {SvcError} `invalid_parameter` when none was begun, or it has ended.
 */
export async function cancelMove(options: PlaceOptions): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const place = await openPlace(options, stack);
  const { mark } = place.core.rows;
  if (mark?.role !== "from") throw invalid(`No move from ${place.name} was begun`);
  if (mark.endedAt !== undefined) place.core.requireHere();
  await setMark(place, undefined);
}
