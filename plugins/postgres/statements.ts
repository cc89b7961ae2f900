/** Runs statements, each for itself or several as one. */
export interface Statements {
  /** The rows that a statement answers. */
  all<Row>(sql: string, ...values: readonly unknown[]): Promise<Row[]>;
  /** The first of them. */
  get<Row>(sql: string, ...values: readonly unknown[]): Promise<Row | undefined>;
}
