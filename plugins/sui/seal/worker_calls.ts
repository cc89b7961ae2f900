import { SvcError } from "../../../src/errors.ts";
import { type Thread, ThreadCalls } from "../../../src/threads.ts";
import type { Answer, KeyCall, KeyWork, KeyWorkOptions, Open, SentError } from "./calls.ts";
import { keyServersDown } from "./failures.ts";

const spawnWorker = (): Thread<Answer> =>
  new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });

/**
 * The work on keys in a thread of its own, because each call computes for milliseconds. Calls of a
 * thread that dies fail and may be repeated; the next call starts another thread.
 */
export class WorkerCalls implements KeyWork, Disposable {
  readonly #calls: ThreadCalls<Answer>;
  #closed = false;

  /** @param note Takes notes for the operator. */
  constructor(
    options: KeyWorkOptions,
    { spawn = spawnWorker, note = () => {} }: {
      readonly spawn?: () => Thread<Answer>;
      readonly note?: (message: string) => void;
    } = {},
  ) {
    const open = () => {
      const worker = spawn();
      worker.postMessage({ options } satisfies Open);
      return worker;
    };
    const lost = (reason: string) => keyServersDown(new Error(reason));
    this.#calls = new ThreadCalls(open, lost, ({ note: text }) => {
      if (text !== undefined) note(text);
    });
  }

  readonly account: KeyWork["account"] = (input) => this.#call("account", input);
  readonly prove: KeyWork["prove"] = (input) => this.#call("prove", input);
  readonly wrap: KeyWork["wrap"] = (input) => this.#call("wrap", input);
  readonly unwrap: KeyWork["unwrap"] = (input) => this.#call("unwrap", input);

  /** Ends the thread; calls under way reject. */
  [Symbol.dispose](): void {
    this.#closed = true;
    this.#calls.stop(closed());
  }

  async #call<C extends KeyCall>(
    call: C,
    input: Parameters<KeyWork[C]>[0],
  ): Promise<Awaited<ReturnType<KeyWork[C]>>> {
    if (this.#closed) throw closed();
    const { value, error } = await this.#calls.call({ call, input });
    if (error !== undefined) throw received(error);
    // The worker implements the same interface.
    return value as Awaited<ReturnType<KeyWork[C]>>;
  }
}

function closed(): SvcError {
  return keyServersDown(undefined, "The cipher is closed");
}

function received({ code, message, cause, ...about }: SentError): SvcError {
  return new SvcError(code, message, { ...about, cause: cause && new Error(cause) });
}
