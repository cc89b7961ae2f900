import { encodeAccount, encodeEvent, EVENTS } from "../../../contracts/mirror.ts";
import { MemoryWorld } from "../memory_world.ts";
import { scenarioId } from "../vectors.ts";

/** A world whose ids are those of a scene: each call that succeeds is a transaction. */
export class SceneWorld extends MemoryWorld {
  /** Number of the next transaction. */
  transaction = 1;

  override freshId(): string {
    return scenarioId(this.transaction);
  }
}

/** Bytes as a Move literal. */
export const hex = (bytes: Uint8Array): string => `x"${bytes.toHex()}"`;

/** Texts as a Move literal of their bytes. */
export const hexList = (texts: readonly string[]): string =>
  `vector[${texts.map((text) => hex(new TextEncoder().encode(text))).join(", ")}]`;

/** The events since a position, as `account::event_bytes` writes them: one vector a type. */
export function eventBytes(world: MemoryWorld, from: number): string {
  const emitted = world.events.slice(from);
  return Object.keys(EVENTS).map((name) => {
    const own = emitted.filter((event) => event.name === name).map(encodeEvent);
    return [new Uint8Array([own.length]), ...own].map((bytes) => bytes.toHex()).join("");
  }).join("");
}

/**
 * Assertions that everything is as in the mirror.
 *
 * @param owners Addresses whose entries of the index are compared.
 * @param keys Public keys likewise.
 */
export function stateChecks(
  world: MemoryWorld,
  owners: readonly string[],
  keys: readonly Uint8Array[],
): string[] {
  const accounts = [...world.accounts.values()].map((account) =>
    `assert!(s.bytes(@${account.id}) == ${hex(encodeAccount(account))}, 1000);`
  );
  const entry = (id: string | undefined, found: string) =>
    id === undefined
      ? `assert!(!s.is_account(${found}), 1001);`
      : `assert!(${found} == @${id}, 1002);`;
  const ofOwners = owners.map((owner) =>
    `let id = s.of_owner(@${owner}); ${entry(world.indexGet({ kind: "owner", owner }), "id")}`
  );
  const ofKeys = keys.map((key) => {
    const publicKey = key.toHex();
    return `let id = s.of_key(${hex(key)}); ${
      entry(world.indexGet({ kind: "key", publicKey }), "id")
    }`;
  });
  return [...accounts, ...ofOwners, ...ofKeys];
}
