import type { Uses } from "../parts.ts";
import { SvcError } from "../../errors.ts";
import type { IndexEntry } from "../../interfaces/mod.ts";
import type { LiveJob } from "../../jobs/job.ts";
import { type Caller, isOpenTo } from "../caller.ts";
import { entriesFor } from "../open.ts";

/** Where it is seen which version of a memory is the newest. */
export type SeeingNewest = Uses<{
  jobs: "newestOf";
  versions: "has" | "latest";
  vectorStore: "get";
}>;

/** What is there of a memory at one moment. */
export interface Newest {
  /** Its row, and the version that is recalled. */
  readonly entry: IndexEntry | undefined;
  /** The unfinished job of a version that is as new, or newer. */
  readonly live: LiveJob | undefined;
  /** The newest version, accepted or indexed; 0 where there is no memory. */
  readonly version: number;
  /** The highest number that was taken; one that was never written is no version. */
  readonly taken: number;
}

/** Readings against changes that come between. */
const TRIES = 10;

/**
 * The newest version of a memory that is there for a caller. Rows are read again when a version was accepted or
 * indexed meanwhile: the row that was read may be of before. By the time the caller is told, another
 * one may have been accepted; then a higher number was taken.
 *
 * @throws {SvcError} `version_conflict` when it changes all the time.
 */
export async function newestOf(domain: SeeingNewest, caller: Caller, id: string): Promise<Newest> {
  const { jobs, versions } = domain;
  const { owner } = caller.account;
  let known = versions.has({ owner }, id) ? undefined : 0;
  for (let tried = 0; tried < TRIES; tried++) {
    const before = jobs.newestOf(owner, id);
    const [entry] = await entriesFor(domain, caller, [id]);
    const newest = jobs.newestOf(owner, id);
    const isNewer = newest !== undefined && !newest.cancelled &&
      isOpenTo(caller, newest.job.namespace) &&
      newest.job.version >= (entry?.version ?? 0);
    const live = isNewer ? newest : undefined;
    const scope = live?.job ?? entry;
    const numbered = scope === undefined ? 0 : versions.latest(scope, id);
    if (before === newest && numbered === known) {
      const version = scope?.version ?? 0;
      return { entry, live, version, taken: Math.max(numbered, version) };
    }
    known = numbered;
  }
  throw new SvcError("version_conflict");
}
