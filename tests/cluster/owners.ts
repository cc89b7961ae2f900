import { parseAddress, postgresAccounts } from "../../plugins/postgres/mod.ts";
import type { SvcClient } from "../../src/client/mod.ts";
import { nodeSigner } from "../../src/client/signer.ts";

/** An owner's account, and a key that may read and write. */
export interface OwnerKey {
  /** 64 hex characters. */
  readonly privateKey: string;
  readonly accountId: string;
}

/** Makes accounts in the database at an address. */
export async function makeOwners(url: string, count: number): Promise<OwnerKey[]> {
  await using accounts = await postgresAccounts({ address: parseAddress(url) });
  return await Promise.all(Array.from({ length: count }, async () => {
    const privateKey = crypto.getRandomValues(new Uint8Array(32)).toHex();
    const owner = `0x${crypto.getRandomValues(new Uint8Array(32)).toHex()}`;
    const { accountId } = await accounts.admin.create(owner);
    const { publicKey } = nodeSigner(Uint8Array.fromHex(privateKey));
    const permissions = ["read", "write"] as const;
    await accounts.admin.addKey(accountId, { publicKey, label: "test", permissions });
    return { privateKey, accountId };
  }));
}

/** Texts of everything that is seen, sorted. `ask` makes each call, and may repeat it. */
export async function allTexts(
  ask: <T>(call: (client: SvcClient) => Promise<T>) => Promise<T>,
): Promise<string[]> {
  const texts: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await ask((client) => client.memories({ limit: 100, ...(cursor && { cursor }) }));
    texts.push(...page.memories.map((memory) => memory.text!));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return texts.sort();
}
