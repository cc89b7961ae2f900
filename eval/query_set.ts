/** A fact and the queries whose only right answer it is. */
export interface Fact {
  /** The memory's text. */
  readonly fact: string;
  /** What is asked. */
  readonly queries: readonly string[];
}

/** Facts that one person or team keeps in one namespace. */
export interface FactStore {
  /** Whose facts. */
  readonly who: string;
  /** The facts. */
  readonly facts: readonly Fact[];
}

/** Queries that are reported together. */
export interface QuerySet {
  /** Name on the report. */
  readonly name: string;
  /** What is searched. */
  readonly stores: readonly FactStore[];
}

const FOLDER = new URL("../tests/testdata/retrieval/", import.meta.url);

/** Reads files of tests/testdata/retrieval as one set. */
export async function readQuerySet(name: string, files: readonly string[]): Promise<QuerySet> {
  const read = async (file: string): Promise<readonly FactStore[]> => {
    const text = await Deno.readTextFile(new URL(`${file}.json`, FOLDER));
    return (JSON.parse(text) as { stores: FactStore[] }).stores;
  };
  return { name, stores: (await Promise.all(files.map(read))).flat() };
}
