/**
 * What runs a statement: TypeORM's data source or a transaction of it, or a single connection.
 *
 * Commands read and write through a connection alone: to load TypeORM takes longer than most of them need in all.
 */
export interface Sql {
  /** Rows of a SELECT; `Rows` is their array. */
  query<Rows>(statement: string, parameters?: unknown[]): Promise<Rows>;
}
