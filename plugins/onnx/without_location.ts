/**
 * In a worker of Deno `location` is a file, which has no origin; the engine would make addresses
 * from it when it is loaded. Without one it does not look. Imported before it.
 */
Object.defineProperty(globalThis, "location", { value: undefined, configurable: true });
