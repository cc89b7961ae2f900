import type { Account, ActivityRow, ActivityRows } from "../../interfaces/mod.ts";
import type { RelayerKey } from "../../sealing/relayer_key.ts";
import { accountInRows } from "../../storage/activity_log.ts";
import type { KeyUse } from "../../storage/core/key_use_table.ts";
import { OwnerKeyUse } from "../../storage/owner_key_use.ts";
import type { OpenPlace } from "./place.ts";

/** Rows read, and written, at once. */
const PAGE = 500;
/** All of a key's rows: what went beyond the bound is gone at the place that they come from. */
const PER_KEY = Number.MAX_SAFE_INTEGER;

/** Brings over what keys did, and when they were used last; what is there already stays. */
export async function copyActivity(from: OpenPlace, to: OpenPlace, key: RelayerKey): Promise<void> {
  for (const account of await from.backends.accounts.admin!.list()) {
    await copyRows(rowsOf(from), rowsOf(to), accountInRows(key, account.accountId));
    await copyUses(from, to, account);
  }
}

const rowsOf = ({ shared, own }: OpenPlace): ActivityRows => shared?.store.activity ?? own.activity;

async function copyRows(from: ActivityRows, to: ActivityRows, account: string): Promise<void> {
  const rows = await oldestFirst(from, account);
  // An earlier run may have brought some: they are the first.
  for (let at = (await oldestFirst(to, account)).length; at < rows.length; at += PAGE) {
    const fresh = rows.slice(at, at + PAGE).map((row) => ({ ...row, id: 0 }));
    await to.write(fresh, PER_KEY);
  }
}

async function oldestFirst(table: ActivityRows, account: string): Promise<ActivityRow[]> {
  const rows: ActivityRow[] = [];
  for (;;) {
    const page = await table.page({ account, before: rows.at(-1)?.id, limit: PAGE });
    rows.push(...page);
    if (page.length < PAGE) return rows.reverse();
  }
}

async function copyUses(from: OpenPlace, to: OpenPlace, { owner, keys }: Account): Promise<void> {
  const [before, after] = [await usesOf(from, owner), await usesOf(to, owner)];
  for (const { publicKey } of keys) {
    const at = before.lastUsed(publicKey);
    if (at !== undefined && at !== after.lastUsed(publicKey)) after.touch(publicKey, at, owner);
  }
  await to.shared?.mirror.flush(owner);
  for (const { shared } of [from, to]) shared?.mirror.drop(owner);
}

async function usesOf({ shared, core, own }: OpenPlace, owner: string): Promise<KeyUse> {
  if (shared === undefined) return own.keyUse;
  await shared.mirror.load(owner);
  const uses = new OwnerKeyUse(core.counts);
  uses.enter(owner);
  return uses;
}
