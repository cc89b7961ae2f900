/**
 * What Deno has and Node 20 lacks, as far as the package uses it. Imported first; where everything
 * is there, it does nothing.
 *
 * @module
 */
import { Buffer } from "node:buffer";

/** Adds a member unless it is there. */
function add(target: object, name: PropertyKey, value: unknown): void {
  if (name in target) return;
  Object.defineProperty(target, name, { value, writable: true, configurable: true });
}

function bytesOf(text: string, encoding: "hex" | "base64url", isValid: RegExp): Uint8Array {
  if (!isValid.test(text)) throw new SyntaxError(`The text is not ${encoding}`);
  return new Uint8Array(Buffer.from(text, encoding));
}

add(Symbol, "asyncDispose", Symbol("Symbol.asyncDispose"));

add(Promise, "withResolvers", function withResolvers<T>(): PromiseWithResolvers<T> {
  let resolve!: (value: T | PromiseLike<T>) => void;
  let reject!: (reason?: unknown) => void;
  const promise = new Promise<T>((keep, fail) => {
    resolve = keep;
    reject = fail;
  });
  return { promise, resolve, reject };
});

add(URL, "parse", (text: string, base?: string): URL | null => {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
});

add(AbortSignal, "any", (signals: readonly AbortSignal[]): AbortSignal => {
  const controller = new AbortController();
  for (const signal of signals) {
    const abort = (): void => controller.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true, signal: controller.signal });
  }
  return controller.signal;
});

add(
  Uint8Array,
  "fromHex",
  (text: string): Uint8Array => bytesOf(text, "hex", /^(?:[0-9a-fA-F]{2})*$/),
);

// Both alphabets are read; the platform's own method is stricter about which.
add(
  Uint8Array,
  "fromBase64",
  (text: string): Uint8Array => bytesOf(text, "base64url", /^[\w+/-]*={0,2}$/),
);

add(Uint8Array.prototype, "toHex", function toHex(this: Uint8Array): string {
  return Buffer.from(this.buffer, this.byteOffset, this.byteLength).toString("hex");
});

add(Uint8Array.prototype, "toBase64", function toBase64(this: Uint8Array): string {
  return Buffer.from(this.buffer, this.byteOffset, this.byteLength).toString("base64");
});
