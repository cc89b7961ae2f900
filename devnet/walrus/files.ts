/** Bytes by name, in memory or in a folder. Names are URL-safe base64, dots and digits. */
export interface Files {
  /** The bytes of a name; undefined when there are none. */
  get(name: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Writes the bytes of a name. */
  put(name: string, bytes: Uint8Array): Promise<void>;
}

/** Files that are gone with the process. */
export function memoryFiles(): Files {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  return {
    get: (name) => Promise.resolve(files.get(name)),
    put: (name, bytes) => {
      files.set(name, new Uint8Array(bytes));
      return Promise.resolve();
    },
  };
}

/** Files in a folder, which is made when it is absent. */
export function folderFiles(folder: string): Files {
  let made: Promise<void> | undefined;
  return {
    async get(name) {
      try {
        return await Deno.readFile(`${folder}/${name}`);
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return undefined;
        throw error;
      }
    },
    async put(name, bytes) {
      await (made ??= Deno.mkdir(folder, { recursive: true }));
      const part = `${folder}/${name}.${crypto.randomUUID()}`;
      await Deno.writeFile(part, bytes);
      await Deno.rename(part, `${folder}/${name}`);
    },
  };
}
