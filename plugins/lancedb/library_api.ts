/**
 * The part of `@lancedb/lancedb` 0.31 and `apache-arrow` 18 that this plugin uses. Their own type
 * declarations bring another platform's globals along.
 */

/** A column format's data type, field or buffer: opaque here. */
export type Opaque = object;

interface ArrowField {
  readonly type: Opaque;
}

export interface ArrowSchema {
  readonly fields: readonly ArrowField[];
}

interface ArrowColumn {
  readonly type: Opaque;
  /** Rows; taken from `data` when absent. */
  readonly length?: number;
  /** Rows without a value. */
  readonly nullCount?: number;
  readonly data?: ArrayBufferView;
  /** Where each value begins. */
  readonly valueOffsets?: Int32Array;
  /** Column of the items of a list. */
  readonly child?: Opaque;
  /** Columns of a struct. */
  readonly children?: readonly Opaque[];
}

export interface Arrow {
  readonly Binary: new () => Opaque;
  readonly Float32: new () => Opaque;
  readonly Int32: new () => Opaque;
  readonly Int64: new () => Opaque;
  /** Lists of one length. */
  readonly FixedSizeList: new (length: number, item: ArrowField) => Opaque;
  readonly Struct: new (fields: readonly ArrowField[]) => Opaque;
  readonly Field: new (name: string, type: Opaque, nullable: boolean) => ArrowField;
  readonly Schema: new (fields: readonly ArrowField[]) => ArrowSchema;
  readonly RecordBatch: new (schema: ArrowSchema, data: Opaque) => Opaque;
  readonly Table: new (schema: ArrowSchema, batches: readonly Opaque[]) => Opaque;
  makeData(column: ArrowColumn): Opaque;
}

interface ReadRow {
  readonly seq: bigint;
  readonly part: number;
  readonly vector: Iterable<number>;
  readonly sealed: Uint8Array;
  readonly _distance: number;
}

interface Query {
  /** Keeps rows that meet a condition, before anything else. */
  where(condition: string): Query;
  limit(rows: number): Query;
  select(columns: readonly string[]): Query;
  toArrow(): Promise<Iterable<ReadRow>>;
}

interface NearestQuery extends Query {
  distanceType(name: "cosine"): NearestQuery;
  where(condition: string): NearestQuery;
  limit(rows: number): NearestQuery;
  select(columns: readonly string[]): NearestQuery;
  /** Compares with every row instead of asking a vector index. */
  bypassVectorIndex(): NearestQuery;
  /** Compares exactly with so many times the limit's rows that a vector index names. */
  refineFactor(factor: number): NearestQuery;
}

export interface LanceTable {
  add(rows: Opaque): Promise<unknown>;
  delete(condition: string): Promise<unknown>;
  countRows(): Promise<number>;
  query(): Query;
  vectorSearch(vector: Float32Array): NearestQuery;
  listIndices(): Promise<readonly { readonly name: string }[]>;
  createIndex(column: string, options: { config: Opaque; name?: string }): Promise<void>;
  /** Writes rows anew. */
  update(change: { where: string; valuesSql: Readonly<Record<string, string>> }): Promise<unknown>;
  /**
   * Merges files and indices, and drops versions older than a time; with `deleteUnverified` also files
   * of them that are young.
   */
  optimize(
    options?: { cleanupOlderThan: Date; deleteUnverified?: boolean },
  ): Promise<unknown>;
  close(): void;
}

export interface LanceConnection {
  createEmptyTable(
    name: string,
    schema: ArrowSchema,
    options: { mode: "create"; existOk: true },
  ): Promise<LanceTable>;
  close(): void;
}

export interface Lancedb {
  connect(folder: string): Promise<LanceConnection>;
  readonly Index: {
    /** For ranges and single values. */
    btree(): Opaque;
    /** For few different values. */
    bitmap(): Opaque;
    /** For vectors: a graph of neighbours, quantised. */
    hnswSq(options: { distanceType: "cosine" }): Opaque;
  };
}
