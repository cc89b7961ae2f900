import type { Uses } from "../parts.ts";
import { SvcError } from "../../errors.ts";
import type { IndexEntry, Scope } from "../../interfaces/mod.ts";
import { scopeKey } from "../../interfaces/scope_key.ts";
import type { AcceptedJob, LiveJob, WrittenStanding } from "../../jobs/job.ts";
import type { Kept } from "../../jobs/replay.ts";
import { type Caller, checkOpenTo, scopeOf } from "../caller.ts";
import {
  type Opening,
  openMemories,
  RecordLost,
  requireCredential,
  storedEntries,
} from "../open.ts";
import { textPayload } from "../waiting/job_contents.ts";
import type { SecretsRule } from "../../interfaces/config.ts";
import type { Metadata } from "../record.ts";
import { accept, type Accepting, type NewMemory } from "../remember.ts";
import { type Redacted, SecretScreen, secretsRule } from "../secrets.ts";
import { Slices } from "../../index/scope_loading.ts";

type Importing = Uses<{
  jobs: "newestOf" | "get";
  contents: "payload";
  tombstones: "isDeleted" | "forgottenAt";
  versions: "latest" | "claim" | "unwritten" | "release";
  imports: "hold";
  importedId: true;
  now: true;
}, Accepting & Opening>;

/** A memory of an export. Times are milliseconds since the epoch. */
export interface ImportedMemory {
  /** Its line in the file, from 1. */
  readonly line: number;
  /** Whether it is what a memory said before; its id is that memory's. */
  readonly isEarlier: boolean;
  readonly namespace: string;
  readonly text: string;
  /** Id it had; one made of what it says when absent, so that importing it again finds it. */
  readonly memoryId?: string | undefined;
  readonly version: number;
  readonly metadata?: Metadata | undefined;
  readonly importance?: number | undefined;
  readonly occurredAt?: number | undefined;
  readonly expiresAt?: number | undefined;
  readonly createdAt?: number | undefined;
  readonly updatedAt?: number | undefined;
  /** What it is about. */
  readonly key?: string | undefined;
  /** Where it was said. */
  readonly session?: string | undefined;
  readonly position?: number | undefined;
  readonly standing?: WrittenStanding | undefined;
}

/**
 * Why a line was not taken: it is there already, is older than what is there, was deleted, is over;
 * or it is an earlier version, and the memory has that one or a later one, or another id.
 */
export type SkipReason = "exists" | "older" | "deleted" | "expired" | "history";

/** A line that was not taken. */
export interface SkippedLine {
  readonly line: number;
  readonly reason: SkipReason;
}

/** A line that was refused. */
interface RefusedLine {
  readonly line: number;
  readonly error: SvcError;
}

/** What became of the lines that are no jobs, and of what was in the others. */
interface Outcome {
  readonly skipped: readonly SkippedLine[];
  readonly refused: readonly RefusedLine[];
  readonly redacted: readonly Redacted[] | undefined;
}

interface ImportOptions<A> {
  /** Whether deleted memories come back, under another id. */
  readonly bringBack: boolean;
  /** What is asked for about secrets; the relayer's setting when absent. */
  readonly secrets: SecretsRule | undefined;
  /** Makes the answer of the accepted jobs, which is kept in the same commit. */
  readonly answering: (jobs: readonly AcceptedJob[], outcome: Outcome) => Kept<A>;
}

/** What is to become of a line. */
type Decision = SkipReason | "take" | "another id";

/** What is there under an id. */
interface Present {
  readonly version: number;
  /** Absent where it has none, or nothing has it any more. */
  readonly text: string | undefined;
  /** Why it cannot be read now. */
  readonly error?: SvcError | undefined;
}

/** A line and the id it is stored under. */
interface Placed {
  readonly memory: ImportedMemory;
  readonly id: string;
  /** Whether an earlier version is here. */
  readonly replaces: boolean;
}

/** Tries against changes of others that come between. */
const TRIES = 10;
/** An id can be taken by something else so many times. */
const MOST_IDS = 16;

/**
 * Accepts memories of an export: all that are new here, in one commit. Ids, versions and times stay;
 * repeating it takes nothing twice. Imports of one owner come one after the other.
 *
 * @throws {SvcError} as `accept`, for one line of another namespace too; `decrypt_credential_required`.
 */
export async function importMemories<A>(
  domain: Importing,
  caller: Caller,
  memories: readonly ImportedMemory[],
  { bringBack, secrets, answering }: ImportOptions<A>,
): Promise<A> {
  for (const { namespace } of memories) checkOpenTo(caller, namespace);
  requireCredential(domain, caller);
  const rule = secretsRule(domain.config.secrets, secrets);
  const { lines, refused, redacted } = await screenLines(rule, memories);
  return await domain.imports.hold(caller.account.owner, async () => {
    for (let tried = 0; tried < TRIES; tried++) {
      try {
        const { placed, skipped } = await new Placing(domain, caller, bringBack).place(lines);
        const taken = placed.map((item) => ({
          ...newMemory(domain, caller, item),
          secrets: rule,
        }));
        const outcome = { skipped, refused, redacted };
        const keep = (jobs: readonly AcceptedJob[]) => answering(jobs, outcome);
        return (await accept(domain, caller, "import", taken, keep)).answer;
      } catch (error) {
        if (!(error instanceof Overtaken)) throw error;
      }
    }
    throw new SvcError("version_conflict");
  });
}

/**
 * Looks for secrets line by line, before ids are made of texts and texts are compared: a line must
 * be the same memory each time it is imported.
 */
async function screenLines(rule: SecretsRule, memories: readonly ImportedMemory[]) {
  const screen = new SecretScreen(rule);
  const slices = new Slices();
  const lines: ImportedMemory[] = [];
  const refused: RefusedLine[] = [];
  for (const memory of memories) {
    const { line, text, metadata } = memory;
    try {
      const payload = {
        kind: "text" as const,
        text,
        ...(metadata === undefined ? {} : { metadata }),
      };
      lines.push({ ...memory, ...screen.payload(payload, "") });
    } catch (thrown) {
      refused.push({ line, error: SvcError.from(thrown) });
    }
    await slices.rest();
  }
  return { lines, refused, redacted: screen.redacted };
}

/** Something came between looking what is there and accepting. */
class Overtaken extends Error {}

function newMemory(domain: Importing, caller: Caller, placed: Placed): NewMemory {
  const { memory, id, replaces } = placed;
  const { namespace, text, metadata, importance, occurredAt, expiresAt, version } = memory;
  const scope = scopeOf(caller, namespace);
  const forgottenAt = domain.tombstones.forgottenAt(scope) ?? -Infinity;
  const { updatedAt, createdAt = updatedAt } = memory;
  const { links, ...standing } = memory.standing ?? {};
  return {
    namespace,
    payload: textPayload({ ...memory, text, metadata, links }),
    importance,
    occurredAt,
    expiresAt,
    standing: memory.standing && standing,
    replaces: (jobId, acceptedAt) => {
      if (domain.tombstones.isDeleted(scope, id)) throw new Overtaken();
      const changedAt = Math.min(updatedAt ?? createdAt ?? acceptedAt, acceptedAt);
      // As old as it says, also once it is history.
      const claimed = { version, jobId, acceptedAt: changedAt };
      if (replaces && !domain.versions.claim(scope, id, claimed)) throw new Overtaken();
      return {
        memoryId: id,
        version,
        createdAt: Math.min(createdAt ?? acceptedAt, acceptedAt),
        source: "import",
        // What was forgotten and is brought back is as old as its coming back.
        ...(changedAt > forgottenAt ? { changedAt } : {}),
      };
    },
  };
}

/** Finds out which lines are new, and under which ids they are to be stored. */
class Placing {
  readonly #domain: Importing;
  readonly #caller: Caller;
  readonly #bringBack: boolean;
  readonly #present = new Map<string, Present | "elsewhere">();

  constructor(domain: Importing, caller: Caller, bringBack: boolean) {
    this.#domain = domain;
    this.#caller = caller;
    this.#bringBack = bringBack;
  }

  async place(memories: readonly ImportedMemory[]) {
    const placed = new Map<string, Placed[]>();
    const scopeOfId = new Map<string, string>();
    const moved = new Map<string, string>();
    const skipped: SkippedLine[] = [];
    let open: Placed[] = [];
    for (const memory of memories) {
      const { memoryId } = memory;
      const id = memoryId ?? this.#idOf(memory, 0);
      open.push({ memory, id, replaces: false });
    }
    for (let tried = 1; open.length > 0; tried++) {
      await this.#look(open);
      const again: Placed[] = [];
      for (const item of open) {
        const scope = scopeKey(this.#scope(item.memory));
        const isElsewhere = (scopeOfId.get(item.id) ?? scope) !== scope;
        const wanted = isElsewhere ? "another id" : this.#decide(item, placed);
        const decision = item.memory.isEarlier ? earlierDecision(wanted) : wanted;
        const key = keyOf(this.#scope(item.memory), item.id);
        const { memoryId = item.id } = item.memory;
        if (memoryId !== item.id && (decision === "take" || decision === "exists")) {
          moved.set(keyOf(this.#scope(item.memory), memoryId), item.id);
        }
        if (decision === "take") {
          scopeOfId.set(item.id, scope);
          const twins = placed.getOrInsertComputed(key, () => []);
          // Of two lines that say what a memory is, the later version counts; the one before is
          // history only where it says so.
          const twin = item.memory.isEarlier || twins.at(-1)?.memory.isEarlier
            ? undefined
            : twins.pop();
          if (twin !== undefined) skipped.push({ line: twin.memory.line, reason: "older" });
          twins.push({ ...item, replaces: twins.length > 0 || this.#present.has(key) });
        } else if (decision !== "another id") {
          skipped.push({ line: item.memory.line, reason: decision });
        } else if (tried === MOST_IDS) throw new SvcError("version_conflict");
        else again.push({ ...item, id: this.#idOf(item.memory, tried) });
      }
      open = again;
    }
    const inOrder = [...placed.values()].flat().sort((a, b) => a.memory.line - b.memory.line)
      .map((item) => this.#relinked(item, moved));
    skipped.sort((a, b) => a.line - b.line);
    return { placed: inOrder, skipped };
  }

  /** With links to where the memories are that are stored under other ids: they are what was meant. */
  #relinked(item: Placed, moved: ReadonlyMap<string, string>): Placed {
    const { memory } = item;
    const { standing } = memory;
    if (moved.size === 0 || standing?.links === undefined) return item;
    const scope = this.#scope(memory);
    const links = standing.links.map((link) => (
      { ...link, id: moved.get(keyOf(scope, link.id)) ?? link.id }
    ));
    return { ...item, memory: { ...memory, standing: { ...standing, links } } };
  }

  #scope({ namespace }: ImportedMemory): Scope {
    return scopeOf(this.#caller, namespace);
  }

  /** A UUID of version 8 out of what a memory says: the same for the same memory and number. */
  #idOf(memory: ImportedMemory, number: number): string {
    const { memoryId, version, text, metadata, createdAt, occurredAt } = memory;
    const scope = scopeKey(this.#scope(memory));
    const parts = [scope, memoryId, version, text, metadata, createdAt, occurredAt, number];
    const hex = this.#domain.importedId(JSON.stringify(parts)).toHex();
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-` +
      hex.slice(20, 32);
  }

  #decide({ memory, id }: Placed, placed: ReadonlyMap<string, readonly Placed[]>): Decision {
    const scope = this.#scope(memory);
    const { tombstones, versions, now } = this.#domain;
    const { text, version, expiresAt = Infinity, updatedAt = Infinity } = memory;
    if (expiresAt <= now()) return "expired";
    // What a deleted memory said before does not come back with it.
    const comesBack = this.#bringBack && !memory.isEarlier;
    if (tombstones.isDeleted(scope, id)) return comesBack ? "another id" : "deleted";
    const isForgotten = updatedAt <= (tombstones.forgottenAt(scope) ?? -Infinity);
    if (isForgotten && !comesBack) return "deleted";
    const twin = placed.get(keyOf(scope, id))?.at(-1)?.memory;
    const present = twin ?? this.#present.get(keyOf(scope, id));
    if (present === undefined) return "take";
    if (present === "elsewhere") return "another id";
    // A number that was given to a version that failed is not given again.
    if (version > present.version) {
      return version > versions.latest(scope, id) ? "take" : "another id";
    }
    if (version === present.version && "error" in present && present.error) throw present.error;
    if (present.text === text) return "exists";
    return version < present.version ? "older" : "another id";
  }

  /** Reads what is there under the ids of some lines. */
  async #look(items: readonly Placed[]): Promise<void> {
    const { owner } = this.#caller.account;
    // Before the rows: a job that ends in between has written its row by then.
    const lives = new Map(items.map(({ id }) => [id, this.#domain.jobs.newestOf(owner, id)]));
    const rows = await storedEntries(this.#domain, owner, items.map(({ id }) => id));
    for (const { memory, id } of items) {
      const scope = this.#scope(memory);
      const key = keyOf(scope, id);
      const own = rows.find((row) => row.id === id && row.namespace === memory.namespace);
      const present = await this.#presentOf(own, scope, lives.get(id));
      const isElsewhere = rows.some((row) => row.id === id && row !== own);
      if (memory.version > 1) await this.#releaseUnused(scope, id);
      if (present !== undefined) this.#present.set(key, present);
      else if (isElsewhere) this.#present.set(key, "elsewhere");
    }
  }

  /** Gives numbers back that were taken for jobs which were then not accepted. */
  async #releaseUnused(scope: Scope, id: string): Promise<void> {
    const { jobs, versions } = this.#domain;
    for (const { jobId, version } of versions.unwritten(scope, id)) {
      if (await jobs.get(jobId, scope.owner) === undefined) versions.release(scope, id, version);
    }
  }

  async #presentOf(
    row: IndexEntry | undefined,
    scope: Scope,
    live: LiveJob | undefined,
  ): Promise<Present | "elsewhere" | undefined> {
    if (live !== undefined && live.job.version >= (row?.version ?? 0)) {
      if (live.job.namespace !== scope.namespace) return "elsewhere";
      try {
        const payload = await this.#domain.contents.payload(live);
        const text = payload.kind === "text" ? payload.text : undefined;
        return { version: live.job.version, text };
      } catch (thrown) {
        // Nobody knows whether it says the same.
        if (live.isLocked) throw thrown;
        // A job that ended meanwhile has no payload: the memory is in its row, if it is there.
        if (live.ending === undefined) return { version: live.job.version, ...unread(thrown) };
        const { memoryId, owner } = live.job;
        const rows = await storedEntries(this.#domain, owner, [memoryId]);
        return await this.#storedIn(rows.find((one) => scopeKey(one) === scopeKey(scope)), scope);
      }
    }
    return await this.#storedIn(row, scope);
  }

  async #storedIn(row: IndexEntry | undefined, scope: Scope): Promise<Present | undefined> {
    if (row === undefined) return undefined;
    const { version } = row;
    // While it is being deleted it may have lost its record; whether it comes back asks for no text.
    if (this.#domain.tombstones.isDeleted(scope, row.id)) return { version, text: undefined };
    const [opened] = await openMemories(this.#domain, this.#caller, scope, [row]);
    if (opened === undefined || "deleted" in opened) throw new Overtaken();
    return "error" in opened
      ? { version, ...unread(opened.error) }
      : { version, text: opened.record.text };
  }
}

/** A text that is not to be had now, or not any more. */
function unread(thrown: unknown): Pick<Present, "text" | "error"> {
  const error = SvcError.from(thrown);
  const isForNow = error.retryable && !(error instanceof RecordLost);
  return { text: undefined, error: isForNow ? error : undefined };
}

/** What becomes of an earlier version: it has the id of its memory, or none. */
function earlierDecision(decision: Decision): Decision {
  const isOut = decision === "another id" || decision === "exists" || decision === "older";
  return isOut ? "history" : decision;
}

const keyOf = (scope: Scope, id: string): string => `${scopeKey(scope)}\n${id}`;
