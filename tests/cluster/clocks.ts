const LIBRARY = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

/** A clock that can be put forward and back while programs run, by Debian's package libfaketime. */
export class Clock {
  readonly #file: string;
  /** Variables of a program that goes by it: its time of day, and no other clock, is another one. */
  readonly env: Readonly<Record<string, string>>;

  private constructor(file: string) {
    this.#file = file;
    this.env = {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      // Seconds: reading the file at each look would cost more than all else.
      FAKETIME_CACHE_DURATION: "1",
    };
  }

  /** Makes one in a folder that its programs may read; `undefined` without the library. */
  static async make(folder: string): Promise<Clock | undefined> {
    if (!await Deno.stat(LIBRARY).then(() => true, () => false)) return undefined;
    const clock = new Clock(`${folder}/clock`);
    await clock.set(0);
    return clock;
  }

  /** How many seconds it is before the real time; less than zero: behind it. */
  async set(seconds: number): Promise<void> {
    const text = seconds < 0 ? String(seconds) : `+${seconds}`;
    // A file that is being written is empty for a moment.
    await Deno.writeTextFile(`${this.#file}.new`, text);
    await Deno.rename(`${this.#file}.new`, this.#file);
  }
}
