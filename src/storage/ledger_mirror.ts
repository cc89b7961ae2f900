import { hash } from "node:crypto";
import { SvcError } from "../errors.ts";
import type { Ledger, LedgerRow } from "../interfaces/mod.ts";
import type { Sealer } from "../interfaces/plugin.ts";
import { KeyLock } from "../key_lock.ts";
import { type Column, COMMON, type MirroredTable, type Row, TABLES } from "./shared_tables.ts";
import type { SqliteFile } from "./sqlite/sqlite_file.ts";

export { COMMON };

/** A row that changed, or is gone: what it was called. */
interface Changed {
  readonly name: string;
  readonly key: string;
}

/** Columns as JSON: bytes as an object. */
function encoded(columns: readonly Column[]): string {
  const values = columns.map((value) =>
    value instanceof Uint8Array ? { bytes: value.toBase64() } : value
  );
  return JSON.stringify(values);
}

function decoded(text: string): Column[] {
  const values: (string | number | null | { readonly bytes: string })[] = JSON.parse(text);
  return values.map((value) =>
    typeof value === "object" && value !== null ? Uint8Array.fromBase64(value.bytes) : value
  );
}

/** A column of a key, out of what `hex` of a trigger made of it. */
function ofHex(hex: string, type: string): Column {
  const bytes = Uint8Array.fromHex(hex);
  if (type === "blob") return bytes;
  const text = new TextDecoder().decode(bytes);
  return type === "integer" ? Number(text) : text;
}

/** Names a row of the ledger. */
const digestOf = ({ name, key }: Changed): Uint8Array =>
  Uint8Array.fromHex(hash("sha256", `${name} ${key}`, "hex"));

/**
 * Keeps the tables of a core.db in RAM in step with a ledger that several relayers share. What is
 * written to the tables counts once `flush` resolves; parts are read whole, when somebody needs them.
 */
export class LedgerMirror {
  readonly #file: SqliteFile;
  readonly #ledger: Ledger;
  readonly #reread: (part: string) => void;
  readonly #revisions = new Map<string, number>();
  readonly #lock = new KeyLock();
  /** Owners of whom something was noted that is nowhere but here, until they are read again. */
  readonly #broken = new Set<string>();
  #sealer: Sealer | undefined;
  /** Columns of each table that are shared, with their types. */
  readonly #columns = new Map<string, ReadonlyMap<string, string>>();

  /** `reread` is called after rows were exchanged: what was read of them before means nothing. */
  constructor(file: SqliteFile, ledger: Ledger, reread: (part: string) => void) {
    this.#file = file;
    this.#ledger = ledger;
    this.#reread = reread;
    file.exec(`create temp table ledger_change (
      part text not null, name text not null, key text not null, primary key (part, name, key)
    ) strict, without rowid;`);
    for (const table of TABLES) {
      for (const [event, row] of EVENTS) file.exec(triggerOf(table, event, row));
      const sql = `select name, lower(type) as type from pragma_table_info('${table.name}')`;
      const columns = file.all<{ readonly name: string; readonly type: string }>(sql)
        .filter(({ name }) => name !== table.numbered);
      this.#columns.set(table.name, new Map(columns.map(({ name, type }) => [name, type])));
    }
  }

  /** Says how rows are sealed; what must be known before that is read before. */
  sealWith(sealer: Sealer): void {
    this.#sealer = sealer;
  }

  /**
   * Reads a part in place of what is known of it.
   *
   * @throws {SvcError} `storage_unavailable`.
   */
  load(part: string): Promise<void> {
    return this.#lock.hold(part, () => this.#load(part));
  }

  /** Reads the common part anew where another relayer has written to it. */
  async refresh(): Promise<void> {
    await this.flush(COMMON);
    const revision = await this.#ledger.revision(COMMON);
    if (revision !== this.#revisions.get(COMMON)) await this.load(COMMON);
  }

  /** Forgets an owner's part; what was not flushed is lost. */
  drop(owner: string): void {
    this.#revisions.delete(owner);
    this.#broken.delete(owner);
    this.#file.transaction(() => {
      this.#clear(owner);
      this.#file.run("delete from ledger_change where part = ?", owner);
    });
    this.#reread(owner);
  }

  /** Whether something of a part waits to be flushed. */
  isDirty(part: string): boolean {
    const sql = "select 1 from ledger_change where part = ? limit 1";
    return this.#file.get(sql, part) !== undefined;
  }

  /**
   * Makes everything durable that was written to a part.
   *
   * @throws {SvcError} `storage_unavailable`; the part must be loaded, or dropped, then: what it has here
   * may be nowhere else.
   */
  async flush(part: string): Promise<void> {
    if (!this.#lock.isHeld(part) && !this.isDirty(part) && !this.#broken.has(part)) return;
    await this.#lock.hold(part, () => part === COMMON ? this.#writeCommon() : this.#writeOwn(part));
  }

  async #load(part: string): Promise<void> {
    const { revision, rows } = await this.#ledger.read(part);
    const opened = rows.flatMap((row) => this.#opened(part, row));
    // What was noted in the common part meanwhile holds; of an owner nothing is noted before this.
    const noted = part === COMMON ? this.#changes(part) : [];
    const own = noted.map((change) => ({ ...change, columns: this.#read(change) }));
    this.#file.transaction(() => {
      this.#clear(part);
      for (const { table, columns } of opened) this.#insert(table, columns);
      for (const change of own) this.#put(change);
      this.#file.run("delete from ledger_change where part = ?", part);
      this.#noteAgain(part, noted);
    });
    this.#revisions.set(part, revision);
    this.#broken.delete(part);
    this.#reread(part);
  }

  /** Nobody leases the common part: where another relayer was faster, both changes hold. */
  async #writeCommon(): Promise<void> {
    for (let tried = 1;; tried++) {
      try {
        return await this.#write(COMMON);
      } catch (error) {
        if (!(error instanceof Overtaken) || tried === TRIES) throw error;
        await this.#load(COMMON);
      }
    }
  }

  async #writeOwn(owner: string): Promise<void> {
    if (this.#broken.has(owner)) throw new Overtaken();
    try {
      await this.#write(owner);
    } catch (error) {
      this.#broken.add(owner);
      throw error;
    }
  }

  #changes(part: string): Changed[] {
    return this.#file.all<Changed>("select name, key from ledger_change where part = ?", part);
  }

  #noteAgain(part: string, changes: readonly Changed[]): void {
    const sql = "insert or ignore into ledger_change values (?, ?, ?)";
    for (const { name, key } of changes) this.#file.run(sql, part, name, key);
  }

  async #write(part: string): Promise<void> {
    const changes = this.#changes(part);
    if (changes.length === 0) return;
    const put: LedgerRow[] = [];
    const gone: Uint8Array[] = [];
    for (const change of changes) {
      const key = digestOf(change);
      const columns = this.#read(change);
      if (columns === undefined) gone.push(key);
      else put.push({ key, value: this.#sealed(part, change.name, columns) });
    }
    this.#file.run("delete from ledger_change where part = ?", part);
    const known = this.#revisions.get(part) ?? 0;
    try {
      const revision = await this.#ledger.write(part, known, { put, gone });
      if (revision === undefined) throw new Overtaken();
      this.#revisions.set(part, revision);
    } catch (error) {
      this.#noteAgain(part, changes);
      throw error;
    }
  }

  #read({ name, key }: Changed): readonly Column[] | undefined {
    const table = tableOf(name);
    const columns = this.#columns.get(name)!;
    const names = [...columns.keys()];
    const where = table.key.map((column) => `${column} = ?`).join(" and ");
    const values = (JSON.parse(key) as string[])
      .map((hex, i) => ofHex(hex, columns.get(table.key[i]!)!));
    const sql = `select ${names.join(", ")} from ${name} where ${where}`;
    const row = this.#file.get<Row>(sql, ...values);
    return row && names.map((column) => row[column]!);
  }

  /** Makes a row what it was, or takes it away. */
  #put(
    { name, key, columns }: Changed & { readonly columns: readonly Column[] | undefined },
  ): void {
    const table = tableOf(name);
    if (columns !== undefined) return this.#insert(table, columns);
    const types = this.#columns.get(name)!;
    const values = (JSON.parse(key) as string[])
      .map((hex, i) => ofHex(hex, types.get(table.key[i]!)!));
    const where = table.key.map((column) => `${column} = ?`).join(" and ");
    this.#file.run(`delete from ${name} where ${where}`, ...values);
  }

  #insert({ name }: MirroredTable, columns: readonly Column[]): void {
    const names = [...this.#columns.get(name)!.keys()];
    const marks = names.map(() => "?").join(", ");
    const sql = `insert or replace into ${name} (${names.join(", ")}) values (${marks})`;
    this.#file.run(sql, ...columns);
  }

  #clear(part: string): void {
    for (const { name, isOwned } of TABLES) {
      if (isOwned !== (part !== COMMON)) continue;
      if (isOwned) this.#file.run(`delete from ${name} where owner = ?`, part);
      else this.#file.run(`delete from ${name}`);
    }
  }

  #sealed(part: string, name: string, columns: readonly Column[]): Uint8Array {
    const text = new TextEncoder().encode(`${name} ${encoded(columns)}`);
    if (tableOf(name).isOpen) return new Uint8Array([0, ...text]);
    return new Uint8Array([1, ...this.#sealer!.seal(text, part)]);
  }

  /** A row's table and columns; none while what seals it is not known. */
  #opened(
    part: string,
    { value }: LedgerRow,
  ): { readonly table: MirroredTable; readonly columns: Column[] }[] {
    const isSealed = value[0] === 1;
    if (isSealed && this.#sealer === undefined) return [];
    const bytes = value.subarray(1);
    const text = new TextDecoder().decode(isSealed ? this.#sealer!.open(bytes, part) : bytes);
    const [name = ""] = text.split(" ", 1);
    return [{ table: tableOf(name), columns: decoded(text.slice(name.length + 1)) }];
  }
}

/** Another relayer has written to a part since it was read. */
class Overtaken extends SvcError {
  constructor() {
    super("storage_unavailable", "Another relayer has written meanwhile: try again");
  }
}

/** Times that the common part is written on top of what others wrote. */
const TRIES = 5;

const EVENTS = [["insert", "new"], ["update", "new"], ["delete", "old"]] as const;

function tableOf(name: string): MirroredTable {
  const table = TABLES.find((one) => one.name === name);
  if (table !== undefined) return table;
  throw new SvcError(
    "invalid_parameter",
    "The shared store was written by a later version of svc: start that version",
  );
}

/** Notes which row a statement changed; the row itself is read when it is flushed. */
function triggerOf(
  { name, key, isOwned }: MirroredTable,
  event: string,
  row: "new" | "old",
): string {
  const part = isOwned ? `${row}.owner` : `'${COMMON}'`;
  const columns = key.map((column) => `hex(${row}.${column})`).join(", ");
  // Not `or ignore`: what a statement does about conflicts holds in its triggers too.
  return `create temp trigger ledger_${name}_${event} after ${event} on main.${name} begin
    insert into ledger_change
    select ${part}, '${name}', json_array(${columns}) where not exists (
      select 1 from ledger_change where part = ${part} and name = '${name}'
        and key = json_array(${columns}));
  end;`;
}
