/**
 * The part of `@lancedb/lancedb` 0.31 and `apache-arrow` 18 that this plugin uses. Their own type
 * declarations bring another platform's globals along.
 */

/** A column format's data type, field or buffer: opaque here. */
export type Opaque = object;

/** A field of a schema. */
interface ArrowField {
  /** Its type. */
  readonly type: Opaque;
}

/** A schema. */
export interface ArrowSchema {
  /** Its fields in order. */
  readonly fields: readonly ArrowField[];
}

/** What `makeData` takes. */
interface ArrowColumn {
  /** Type of the column. */
  readonly type: Opaque;
  /** Rows; taken from `data` when absent. */
  readonly length?: number;
  /** Rows without a value. */
  readonly nullCount?: number;
  /** The values. */
  readonly data?: ArrayBufferView;
  /** Where each value begins. */
  readonly valueOffsets?: Int32Array;
  /** Column of the items of a list. */
  readonly child?: Opaque;
  /** Columns of a struct. */
  readonly children?: readonly Opaque[];
}

/** The column format. */
export interface Arrow {
  /** Bytes. */
  readonly Binary: new () => Opaque;
  /** Numbers of 32 bits. */
  readonly Float32: new () => Opaque;
  /** Whole numbers of 32 bits. */
  readonly Int32: new () => Opaque;
  /** Whole numbers of 64 bits. */
  readonly Int64: new () => Opaque;
  /** Lists of one length. */
  readonly FixedSizeList: new (length: number, item: ArrowField) => Opaque;
  /** Rows. */
  readonly Struct: new (fields: readonly ArrowField[]) => Opaque;
  /** A named column. */
  readonly Field: new (name: string, type: Opaque, nullable: boolean) => ArrowField;
  /** Named columns. */
  readonly Schema: new (fields: readonly ArrowField[]) => ArrowSchema;
  /** Rows of a schema. */
  readonly RecordBatch: new (schema: ArrowSchema, data: Opaque) => Opaque;
  /** Batches of a schema. */
  readonly Table: new (schema: ArrowSchema, batches: readonly Opaque[]) => Opaque;
  /** Makes a column. */
  makeData(column: ArrowColumn): Opaque;
}

/** A row as read: columns by name. */
interface ReadRow {
  /** Number of the memory's rows. */
  readonly seq: bigint;
  /** Position of the window. */
  readonly part: number;
  /** Numbers of the vector. */
  readonly vector: Iterable<number>;
  /** Sealed bytes. */
  readonly sealed: Uint8Array;
  /** Distance to the query. */
  readonly _distance: number;
}

/** A question to a table. */
interface Query {
  /** Keeps rows that meet a condition, before anything else. */
  where(condition: string): Query;
  /** Most rows. */
  limit(rows: number): Query;
  /** Columns to read. */
  select(columns: readonly string[]): Query;
  /** The rows. */
  toArrow(): Promise<Iterable<ReadRow>>;
}

/** A nearest-neighbour question to a table. */
interface NearestQuery extends Query {
  /** Measure of distance. */
  distanceType(name: "cosine"): NearestQuery;
  where(condition: string): NearestQuery;
  limit(rows: number): NearestQuery;
  select(columns: readonly string[]): NearestQuery;
  /** Compares with every row instead of asking a vector index. */
  bypassVectorIndex(): NearestQuery;
  /** Compares exactly with so many times the limit's rows that a vector index names. */
  refineFactor(factor: number): NearestQuery;
}

/** A table. */
export interface LanceTable {
  /** Adds rows. */
  add(rows: Opaque): Promise<unknown>;
  /** Deletes rows that meet a condition. */
  delete(condition: string): Promise<unknown>;
  /** Number of rows. */
  countRows(): Promise<number>;
  /** Rows by a condition. */
  query(): Query;
  /** Rows by distance. */
  vectorSearch(vector: Float32Array): NearestQuery;
  /** Its indices. */
  listIndices(): Promise<readonly { readonly name: string }[]>;
  /** Makes an index. */
  createIndex(column: string, options: { config: Opaque; name?: string }): Promise<void>;
  /** Merges files and indices, and drops versions older than a time. */
  optimize(options: { cleanupOlderThan: Date }): Promise<unknown>;
  /** Frees it. */
  close(): void;
}

/** An open database. */
export interface LanceConnection {
  /** Opens a table, or makes it. */
  createEmptyTable(
    name: string,
    schema: ArrowSchema,
    options: { mode: "create"; existOk: true },
  ): Promise<LanceTable>;
  /** Frees it. */
  close(): void;
}

/** The database. */
export interface Lancedb {
  /** Opens a folder. */
  connect(folder: string): Promise<LanceConnection>;
  /** Kinds of index. */
  readonly Index: {
    /** For ranges and single values. */
    btree(): Opaque;
    /** For few different values. */
    bitmap(): Opaque;
    /** For vectors: a graph of neighbours, quantised. */
    hnswSq(options: { distanceType: "cosine" }): Opaque;
  };
}
