/** What this browser keeps: everything lies in one IndexedDB table of this origin. */
const DATABASE = "svc";
const TABLE = "kept";

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("The browser's storage is blocked"));
  });
}

async function run<T>(
  mode: IDBTransactionMode,
  use: (table: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const database = await open();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(TABLE, mode, {
        durability: "strict",
      });
      const request = use(transaction.objectStore(TABLE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
      transaction.onerror = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

/** The value of a name, or `undefined`. Keys are stored as keys: their bytes never pass through. */
export async function read<T>(name: string): Promise<T | undefined> {
  return await run("readonly", (table) => table.get(name)) as T | undefined;
}

/** Keeps a value; durable when it resolves. */
export async function keep(name: string, value: unknown): Promise<void> {
  await run("readwrite", (table) => table.put(value, name));
}

/** Removes a name. */
export async function drop(name: string): Promise<void> {
  await run("readwrite", (table) => table.delete(name));
}

/** Removes everything. */
export async function dropAll(): Promise<void> {
  await run("readwrite", (table) => table.clear());
}
