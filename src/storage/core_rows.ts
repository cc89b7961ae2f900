import { fromColumn } from "./sqlite/database.ts";
import { COMMON, type MirroredTable, type Row, TABLES } from "./shared_tables.ts";
import { openForReading, type SqliteFile } from "./sqlite/sqlite_file.ts";

/** A row of a core.db as it is brought to another one. */
export interface CoreRow {
  /** Table that it lies in. */
  readonly table: string;
  /** What its columns hold, bytes and texts as they are stored. */
  readonly values: Row;
}

/** Which of two places a mark of a move stands in, and how far the move is. */
export interface MoveMark {
  /** Tells moves apart; both places have the same. */
  readonly id: string;
  /** Whether it is moved from here, or to here. */
  readonly role: "from" | "to";
  /** The other place, for people. */
  readonly other: string;
  /** When it ended, milliseconds since the epoch; absent until then. */
  readonly endedAt?: number;
}

/** What a mark says to whoever wants to use the place. */
export function movedText({ role, other, endedAt }: MoveMark): string {
  if (role === "to") return `A move from ${other} to here has not ended: run svc move again`;
  return endedAt === undefined
    ? `What is here is being moved to ${other}: run svc move again, or with --cancel`
    : `What was here was moved to ${other} at ${new Date(endedAt).toISOString()}: use that`;
}

/** The mark in a core.db, which is opened for reading only; `undefined` where there is none. */
export function markIn(path: string): MoveMark | undefined {
  try {
    using database = openForReading(path);
    const row = database.prepare("select value from meta where name = ?").get(MARK);
    return row && JSON.parse(String(row["value"]));
  } catch {
    return undefined;
  }
}

const MARK = "move";
/** What a core.db notes about itself alone. */
const OWN_NAMES = ["data_format", MARK];
/** Tables that go along: limits are counted anew, and uses of keys lie elsewhere where relayers share. */
const MOVED = TABLES.filter(({ name }) => name !== "owner_count");

const partOf = ({ isOwned }: MirroredTable) => isOwned;

/** Rows of a core.db, whatever they mean: to bring them to another one. */
export class CoreRows {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /** The mark of a move; `undefined` where none was begun. */
  get mark(): MoveMark | undefined {
    const sql = "select value from meta where name = ?";
    const row = this.#file.get<{ readonly value: string }>(sql, MARK);
    return row && JSON.parse(row.value);
  }

  set mark(mark: MoveMark | undefined) {
    if (mark === undefined) {
      this.#file.run("delete from meta where name = ?", MARK);
      return;
    }
    const sql = "insert or replace into meta values (?, ?)";
    this.#file.run(sql, MARK, JSON.stringify(mark));
  }

  /** Whether nothing is noted but the form of the file, and perhaps a mark. */
  get isEmpty(): boolean {
    return [this.owners(), this.of(COMMON)].every(({ length }) => length === 0);
  }

  /** Owners of whom something is noted. */
  owners(): string[] {
    const tables = MOVED.filter(partOf).map(({ name }) => `select owner from ${name}`);
    const rows = this.#file.all<{ readonly owner: string }>(tables.join(" union "));
    return rows.map(({ owner }) => owner).sort();
  }

  /** Namespaces of an owner of which something is noted. */
  namespacesOf(owner: string): string[] {
    const tables = MOVED.filter(({ name }) => this.#columnsOf(name).includes("namespace"))
      .map(({ name }) => `select namespace from ${name} where owner = ?1`);
    const sql = tables.join(" union ");
    const rows = this.#file.all<{ readonly namespace: Uint8Array }>(sql, owner);
    return rows.map(({ namespace }) => fromColumn(namespace));
  }

  /** The rows of a part: an owner's, or with the empty name what belongs to all. */
  of(part: string): CoreRow[] {
    return MOVED.filter((table) => partOf(table) === (part !== COMMON)).flatMap((table) => {
      const { name, isOwned, key, numbered } = table;
      const columns = this.#columnsOf(name).filter((column) => column !== numbered).join(", ");
      const where = isOwned ? "where owner = ?1" : "where ?1 = ''";
      const order = numbered ?? key.join(", ");
      const sql = `select ${columns} from ${name} ${where} order by ${order}`;
      return this.#file.all<Row>(sql, part)
        .filter(({ name: named }) => name !== "meta" || !OWN_NAMES.includes(String(named)))
        .map((values) => ({ table: name, values }));
    });
  }

  /** Puts rows in the place of those with their keys. */
  put(rows: readonly CoreRow[]): void {
    this.#file.transaction(() => {
      for (const { table, values } of rows) {
        const names = Object.keys(values);
        const marks = names.map(() => "?").join(", ");
        const sql = `insert or replace into ${table} (${names.join(", ")}) values (${marks})`;
        this.#file.run(sql, ...Object.values(values));
      }
    });
  }

  #columnsOf(name: string): string[] {
    const sql = "select name from pragma_table_info(?)";
    return this.#file.all<{ readonly name: string }>(sql, name).map((column) => column.name);
  }
}
