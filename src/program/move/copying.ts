import { SvcError } from "../../errors.ts";
import type { Account, Expiry, Role } from "../../interfaces/mod.ts";
import type { CoreRow } from "../../storage/core_rows.ts";
import { COMMON } from "../../storage/ledger_mirror.ts";
import { createPrivateFile, readPrivateFile } from "../../storage/private_file.ts";
import { invalid } from "../invalid.ts";
import { copyBlobs } from "./blobs.ts";
import { copyIndex } from "./index.ts";
import { copyJobs, copyNotes, type JobsOfPlace, readJobs } from "./jobs.ts";
import { type OpenPlace, ownersOf, type Place, scopesOf } from "./place.ts";
import { addRows, canonical, contentsOf, Digest, digestOfJobs, requireSame } from "./verify.ts";

/** How a move is made. */
export interface CopyOptions {
  /** Roles that are played by the same in both places: nothing of theirs is moved. */
  readonly stays?: ReadonlySet<Role>;
  /** Told how much is done, 0 to 1. */
  readonly progress?: (done: number) => void;
}

/** What was moved. */
export interface Moved {
  readonly owners: number;
  readonly memories: number;
  readonly blobs: number;
  readonly jobs: number;
  /** Jobs that are not done yet: the next relayer goes on with them. */
  readonly unfinished: number;
}

/** Rows of the ledger that are written at once. */
const ROWS = 1000;
/** Steps of a memory: it is copied, and read at both places. */
const STEPS = 3;

async function take({ name, shared }: Place, owner: string): Promise<void> {
  if (shared === undefined || await shared.store.owners.take(owner, false)) return;
  throw invalid(`A relayer works on ${name}: stop it`);
}

/** Writes an owner's rows, a bounded number at once. */
async function putRows({ core, shared }: Place, owner: string, rows: readonly CoreRow[]) {
  for (let at = 0; at < rows.length; at += ROWS) {
    core.rows.put(rows.slice(at, at + ROWS));
    await shared?.mirror.flush(owner);
  }
}

/** Copies and compares everything, with both places open and nobody else in them. */
export class Copying {
  readonly #from: OpenPlace;
  readonly #to: OpenPlace;
  readonly #stays: ReadonlySet<Role>;
  readonly #progress: (done: number) => void;
  /** Steps done, and of how many; blobs come with their memories. */
  readonly #steps = { done: 0, all: 1 };

  constructor(from: OpenPlace, to: OpenPlace, { stays, progress }: CopyOptions) {
    this.#from = from;
    this.#to = to;
    this.#stays = stays ?? new Set();
    this.#progress = progress ?? (() => {});
  }

  async run(): Promise<Moved> {
    const owners = await ownersOf(this.#from);
    await this.#take(owners);
    const accounts = await this.#from.backends.accounts.admin!.list();
    const idOf = new Map(accounts.map(({ owner, accountId }) => [owner, accountId]));
    const scopes = [];
    for (const owner of owners) scopes.push(...await this.#copy(owner, idOf.get(owner)));
    const jobs = await readJobs(this.#from, owners, scopes);
    const known = await readJobs(this.#to, owners, []);
    await copyJobs(this.#from, this.#to, jobs, known.unfinished);
    await copyNotes(this.#from, this.#to);
    await this.#copyExpiries();
    await this.#copyAccounts();
    await this.#copySalt();
    const counts = { memories: 0, blobs: 0 };
    for (const owner of owners) {
      const { memories, blobs } = await this.#verify(owner, idOf.get(owner));
      counts.memories += memories.count;
      counts.blobs += blobs.count;
    }
    await this.#verifyRest(jobs, scopes);
    const { ended, unfinished } = jobs;
    return { owners: owners.length, ...counts, jobs: ended.size, unfinished: unfinished.size };
  }

  /** Keeps the owners of both places for this process. */
  async #take(owners: readonly string[]): Promise<void> {
    for (const owner of owners) {
      await take(this.#from, owner);
      await take(this.#to, owner);
      const scopes = await this.#from.backends.vectorStore.scopes(owner);
      for (const { count } of scopes) this.#steps.all += STEPS * count;
    }
  }

  #advance(steps: number): void {
    this.#steps.done += steps;
    this.#progress(this.#steps.done / this.#steps.all);
  }

  async #load(place: OpenPlace, owner: string): Promise<void> {
    await place.shared?.mirror.load(owner);
  }

  #drop(owner: string): void {
    for (const { shared } of [this.#from, this.#to]) shared?.mirror.drop(owner);
  }

  async #copy(owner: string, accountId: string | undefined) {
    const [from, to] = [this.#from, this.#to];
    await this.#load(from, owner);
    await this.#load(to, owner);
    const scopes = await scopesOf(from, owner);
    for (const scope of scopes) {
      if (!this.#stays.has("vectorStore")) {
        await copyIndex(from, to, scope, async (entries) => {
          this.#advance(entries.length);
          // A cipher may keep keys elsewhere: what it opens is known here afterwards.
          const unknown = entries.filter(({ keyId, payload }) =>
            keyId !== "" && payload.length > 0 && from.core.keys.get(keyId) === undefined
          );
          if (unknown.length === 0 || accountId === undefined) return;
          if (from.backends.cipher.needsCredential) return;
          const items = unknown.map(({ id, payload }) => ({ memoryId: id, record: payload }));
          await from.backends.cipher.open(items, { ...scope, accountId });
        });
      }
      if (!this.#stays.has("blobStore")) await copyBlobs(from, to, scope);
    }
    await putRows(to, owner, from.core.rows.of(owner));
    this.#drop(owner);
    return scopes;
  }

  async #copyExpiries(): Promise<void> {
    for await (const page of expiriesOf(this.#from)) await this.#to.expiries.note(page);
  }

  async #copyAccounts(): Promise<void> {
    if (this.#stays.has("accounts")) return;
    const { admin } = this.#to.backends.accounts;
    if (admin?.adopt === undefined) throw invalid(`The accounts of ${this.#to.name} adopt none`);
    const there = new Map((await admin.list()).map((one) => [one.accountId, one]));
    for (const account of await this.#from.backends.accounts.admin!.list()) {
      if (canonical(there.get(account.accountId)) === canonical(account)) continue;
      await admin.adopt(account);
    }
  }

  /** What a passphrase needs to be the key. */
  async #copySalt(): Promise<void> {
    const salt = await readPrivateFile(`${this.#from.dataDir}/relayer.salt`);
    if (salt !== undefined) {
      await createPrivateFile(`${this.#to.dataDir}/relayer.salt`, salt.text);
    }
  }

  async #verify(owner: string, accountId: string | undefined) {
    const read = async (place: OpenPlace) => {
      await this.#load(place, owner);
      const contents = await contentsOf(place, owner, accountId, this.#stays);
      this.#advance(contents.memories.count);
      return contents;
    };
    const [here, there] = [await read(this.#from), await read(this.#to)];
    requireSame("Memories", here.memories, there.memories);
    requireSame("Namespaces", here.scopes, there.scopes);
    requireSame("Blobs", here.blobs, there.blobs);
    requireSame("Deletions, versions and keys", here.rows, there.rows);
    this.#drop(owner);
    return here;
  }

  async #verifyRest(jobs: JobsOfPlace, scopes: Parameters<typeof readJobs>[2]): Promise<void> {
    const [from, to] = [this.#from, this.#to];
    const there = await readJobs(to, [], scopes);
    requireSame("Jobs", await digestOfJobs(from, jobs), await digestOfJobs(to, there));
    for (const id of jobs.unfinished.keys()) {
      if (await to.jobs.isUnfinished(id)) continue;
      throw new SvcError("storage_unavailable", "A waiting job is missing", { retryable: false });
    }
    requireSame("Expiries", await digestOfExpiries(from), await digestOfExpiries(to));
    requireSame("Accounts", await digestOfAccounts(from), await digestOfAccounts(to));
    const common = ({ core }: Place) => {
      const digest = new Digest();
      addRows(digest, core.rows.of(COMMON));
      return digest;
    };
    await to.shared?.mirror.load(COMMON);
    requireSame("What all relayers know", common(from), common(to));
  }
}

async function* expiriesOf({ expiries }: Place): AsyncGenerator<Expiry[]> {
  let after: Expiry | undefined;
  for (;;) {
    const page = await expiries.due(Number.MAX_SAFE_INTEGER - 1, after);
    if (page.length === 0) return;
    yield page;
    after = page.at(-1);
  }
}

async function digestOfExpiries(place: Place): Promise<Digest> {
  const digest = new Digest();
  for await (const page of expiriesOf(place)) for (const one of page) digest.add(canonical(one));
  return digest;
}

async function digestOfAccounts({ backends }: OpenPlace): Promise<Digest> {
  const digest = new Digest();
  const accounts: readonly Account[] = await backends.accounts.admin!.list();
  for (const account of accounts) digest.add(canonical(account));
  return digest;
}
