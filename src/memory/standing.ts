import { compatible } from "../index/words/words.ts";
import type { Uses } from "./parts.ts";
import type { MemoryLink, Scope, Standing, Trust } from "../interfaces/mod.ts";
import { scopeKey } from "../interfaces/scope_key.ts";
import type { WrittenStanding } from "../jobs/job.ts";
import type { MemoryRecord } from "./record.ts";

/** Makes what stands for a text where the text itself must not stand. */
export type Digesting = Uses<{ sameText: true }>;

/** What a record says of a memory's standing; times are milliseconds since the epoch. */
interface Said {
  readonly text: string;
  readonly key?: string | undefined;
  readonly links?: readonly MemoryLink[] | undefined;
  readonly session?: string | undefined;
  readonly position?: number | undefined;
}

/** Bytes of a digest: every memory of a loaded scope has one. */
const DIGEST_BYTES = 12;

/** A text without what changes nothing about what it says, word for word. */
function plain(text: string): string {
  return compatible(text).toLowerCase().replace(/[\s\p{P}]+/gu, " ").trim();
}

/** The same for texts of a scope that say the same word for word. */
export function textDigest({ sameText }: Digesting, scope: Scope, text: string): string {
  return sameText(`text ${scopeKey(scope)} ${plain(text)}`).subarray(0, DIGEST_BYTES).toBase64();
}

/** The same for memories of a scope that are about the same thing. */
function keyDigest({ sameText }: Digesting, scope: Scope, key: string): string {
  return sameText(`key ${scopeKey(scope)} ${plain(key)}`).subarray(0, DIGEST_BYTES).toBase64();
}

/** The same for memories of a scope that were said in the same session. */
function sessionDigest({ sameText }: Digesting, scope: Scope, session: string): string {
  return sameText(`session ${scopeKey(scope)} ${session}`).subarray(0, DIGEST_BYTES).toBase64();
}

/** A memory's standing as the index has it. */
export function standingOf(
  domain: Digesting,
  scope: Scope,
  { text, key, links = [], session, position }: Said,
  given: Pick<Standing, "validFrom" | "validTo" | "trust"> = {},
): Standing {
  return {
    ...given,
    ...(links.length === 0 ? {} : { links }),
    ...(key === undefined ? {} : { keyDigest: keyDigest(domain, scope, key) }),
    ...(session === undefined ? {} : { sessionDigest: sessionDigest(domain, scope, session) }),
    ...(position === undefined ? {} : { position }),
    // The client encrypted it: there is no text.
    ...(text === "" ? {} : { textDigest: textDigest(domain, scope, text) }),
  };
}

/** The standing of a memory that was read out of its record. */
export function standingOfRecord(
  domain: Digesting,
  scope: Scope,
  record: MemoryRecord,
): Standing {
  const { valid_from, valid_to, trust } = record;
  return standingOf(domain, scope, record, {
    ...(valid_from === undefined ? {} : { validFrom: Date.parse(valid_from) }),
    ...(valid_to === undefined ? {} : { validTo: Date.parse(valid_to) }),
    ...(trust === undefined ? {} : { trust }),
  });
}

/** What a writer says, as requests have it; times are milliseconds since the epoch. */
export interface GivenStanding {
  readonly valid_from?: number | undefined;
  readonly valid_to?: number | undefined;
  readonly supersedes?: readonly string[] | undefined;
  readonly trust?: Trust | undefined;
}

/** Links by which a writer says that other memories are over. */
export function supersedesLinks(ids: readonly string[]): MemoryLink[] {
  return [...new Set(ids.map((id) => id.toLowerCase()))]
    .map((id) => ({ id, kind: "supersedes", by: "caller", score: 1 }));
}

/** What a writer says of a memory's standing; `undefined` where that is nothing. */
export function writtenStanding(
  { valid_from, valid_to, supersedes = [], trust }: GivenStanding,
  links: readonly MemoryLink[] = supersedesLinks(supersedes),
): WrittenStanding | undefined {
  const standing: WrittenStanding = {
    ...(valid_from === undefined ? {} : { validFrom: valid_from }),
    ...(valid_to === undefined ? {} : { validTo: valid_to }),
    ...(links.length === 0 ? {} : { links }),
    ...(trust === undefined ? {} : { trust }),
  };
  return Object.keys(standing).length === 0 ? undefined : standing;
}
