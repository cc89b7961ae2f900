import { type ErrorCode, SvcError } from "../../../src/errors.ts";
import type { KeyCall, KeyWork, KeyWorkOptions, Request, Response, SentError } from "./calls.ts";
import { keyServersDown } from "./failures.ts";

interface Waiting {
  resolve(value: unknown): void;
  reject(reason: SvcError): void;
}

/** Starts a worker thread that answers `Request` with `Response`. */
type Spawn = () => Worker;

/** What {@linkcode WorkerCalls} may be given. */
interface WorkerCallsOptions {
  /** Starts a thread. */
  readonly spawn?: Spawn;
  /** Takes notes for the operator. */
  readonly note?: (message: string) => void;
}

const spawnWorker: Spawn = () =>
  new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });

/**
 * The work on keys in a thread of its own, because it is milliseconds of computation each. A thread
 * that dies takes its calls with it, which may be made again; the next call starts another one.
 */
export class WorkerCalls implements KeyWork, Disposable {
  readonly #options: KeyWorkOptions;
  readonly #spawn: Spawn;
  readonly #note: (message: string) => void;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;
  #closed = false;

  /** Starts no thread before the first call. */
  constructor(options: KeyWorkOptions, { spawn = spawnWorker, note }: WorkerCallsOptions = {}) {
    this.#options = options;
    this.#spawn = spawn;
    this.#note = note ?? (() => {});
  }

  /** See {@linkcode KeyWork}. */
  account(...[accountId]: Parameters<KeyWork["account"]>): ReturnType<KeyWork["account"]> {
    return this.#call("account", accountId);
  }

  /** See {@linkcode KeyWork}. */
  prove(...[credential]: Parameters<KeyWork["prove"]>): ReturnType<KeyWork["prove"]> {
    return this.#call("prove", credential);
  }

  /** See {@linkcode KeyWork}. */
  wrap(...[input]: Parameters<KeyWork["wrap"]>): ReturnType<KeyWork["wrap"]> {
    return this.#call("wrap", input);
  }

  /** See {@linkcode KeyWork}. */
  unwrap(...[input]: Parameters<KeyWork["unwrap"]>): ReturnType<KeyWork["unwrap"]> {
    return this.#call("unwrap", input);
  }

  /** Ends the thread; calls under way reject. */
  [Symbol.dispose](): void {
    this.#closed = true;
    this.#stop(keyServersDown(undefined, "The cipher is closed"));
  }

  #call<C extends KeyCall>(
    call: C,
    input: Parameters<KeyWork[C]>[0],
  ): ReturnType<KeyWork[C]> {
    const result = new Promise((resolve, reject: (reason: SvcError) => void) => {
      if (this.#closed) return reject(keyServersDown(undefined, "The cipher is closed"));
      const worker = this.#worker ??= this.#start();
      const id = ++this.#lastId;
      this.#waiting.set(id, { resolve, reject });
      // The union cannot be told from its parts: the pair is right by this method's own types.
      worker.postMessage({ type: "call", id, call, input } as Request);
    });
    // Answers are the worker's, which is typed by the same interface.
    return result as ReturnType<KeyWork[C]>;
  }

  #start(): Worker {
    const worker = this.#spawn();
    const fail = (reason: string) => {
      if (worker === this.#worker) this.#stop(keyServersDown(new Error(reason)));
    };
    worker.onmessage = ({ data }: MessageEvent<Response>) => {
      if (worker !== this.#worker) return;
      if (data.type === "note") return this.#note(data.message);
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if (data.type === "done") waiting?.resolve(data.value);
      else waiting?.reject(received(data.error));
    };
    worker.onerror = (event) => {
      // Otherwise the error would end this process too.
      event.preventDefault();
      fail(event.message);
    };
    worker.onmessageerror = () => fail("An answer of the worker could not be read");
    worker.postMessage({ type: "open", options: this.#options } satisfies Request);
    return worker;
  }

  #stop(error: SvcError): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    const lost = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of lost) reject(error);
  }
}

function received({ code, message, retryable, retryAfter, cause }: SentError): SvcError {
  // Codes come from the same build.
  return new SvcError(code as ErrorCode, message, {
    retryable,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(cause === undefined ? {} : { cause: new Error(cause) }),
  });
}
