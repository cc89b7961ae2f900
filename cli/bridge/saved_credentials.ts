import { stat } from "node:fs/promises";
import { deleteCredentials, readCredentials } from "../../src/client/credentials_file.ts";
import type { Credentials } from "../../src/client/credentials.ts";
import type { Logger } from "../../src/log.ts";

/** Pause between checks of the file, in milliseconds. */
const POLL_MS = 1000;

/** Tells whether a file is another than at the last look. */
async function stampOf(path: string): Promise<string> {
  try {
    const { mtimeMs, ctimeMs, size, ino } = await stat(path);
    return [mtimeMs, ctimeMs, size, ino].join(" ");
  } catch {
    return "absent";
  }
}

/** The saved credentials, read again whenever the file has changed. */
export class SavedCredentials {
  readonly #path: string | undefined;
  readonly #logger: Logger;
  #stamp: string | undefined;
  #current: Credentials | undefined;
  #ignored: Credentials | undefined;
  #reason: string | undefined;
  #reading: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Called after each reading that found something else. */
  onChange: () => void = () => {};

  /** Of a file; without one nothing is ever saved. */
  constructor(path: string | undefined, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
    this.#reason = path === undefined ? "no home directory is known" : "there is none";
  }

  get current(): Credentials | undefined {
    return this.#current;
  }

  /** Addresses of the file, for the next login too when the key itself is not used. */
  get addresses(): Pick<Credentials, "relayerUrl" | "webUrl"> | undefined {
    return this.#current ?? this.#ignored;
  }

  /** Why there are none. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Ignores the credentials in the file until it changes; its addresses still count. */
  async ignore(): Promise<void> {
    if (this.#path === undefined) return;
    const { credentials, warnings } = await readCredentials(this.#path);
    this.#ignored = credentials;
    for (const warning of warnings) this.#logger.warn("note", { reason: warning });
    this.#stamp = await stampOf(this.#path);
    this.#reason = "a new sign-in was asked for";
  }

  /** Reads the file if it has changed. */
  refresh(): Promise<void> {
    return this.#reading = this.#reading.then(() => this.#refresh());
  }

  async #refresh(): Promise<void> {
    if (this.#path === undefined) return;
    const stamp = await stampOf(this.#path);
    if (stamp === this.#stamp) return;
    const before = JSON.stringify(this.#current);
    const read = await readCredentials(this.#path);
    // A look at the file may tighten its permissions, which changes its stamp.
    this.#stamp = read.warnings.length > 0 ? await stampOf(this.#path) : stamp;
    this.#current = read.credentials;
    this.#ignored = undefined;
    this.#reason = read.reason;
    for (const warning of read.warnings) this.#logger.warn("note", { reason: warning });
    this.#logger.debug("credentials read", {
      state: read.credentials === undefined ? "none" : "present",
      reason: read.reason,
    });
    if (JSON.stringify(this.#current) !== before) this.onChange();
  }

  /** Checks the file every second, until {@linkcode stop}. */
  watch(): void {
    this.#timer = setInterval(() => void this.refresh(), POLL_MS);
  }

  /** Ends the looks, also one under way. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reading;
  }

  /**
   * Deletes the file, whatever it holds.
   *
   * @returns whether there was one.
   * @throws {SvcError} `storage_unavailable` when it cannot be deleted.
   */
  async remove(): Promise<boolean> {
    const removed = this.#path !== undefined && await deleteCredentials(this.#path);
    await this.refresh();
    return removed;
  }
}
