type Method = (...args: never[]) => unknown;

/** What a test does around a backend's methods; `next` is the method itself. */
export type Hooks<T> = {
  [K in keyof T as NonNullable<T[K]> extends Method ? K : never]?: NonNullable<T[K]> extends
    (...args: infer A) => infer R ? (next: (...args: A) => R, ...args: A) => R
    : never;
};

/** A backend whose calls go through hooks. */
export function intercepted<T extends object>(backend: T, hooks: Hooks<T>): T {
  return new Proxy(backend, {
    get(target, name) {
      const member = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      const method = member.bind(target);
      const hook = Reflect.get(hooks, name);
      return typeof hook === "function" ? (...args: unknown[]) => hook(method, ...args) : method;
    },
  });
}

/** A place that calls stop at until the test lets them go. */
export class Gate {
  #open = true;
  #waiting: (() => void)[] = [];
  #arrival = Promise.withResolvers<void>();

  /** From now on calls stop here. */
  close(): void {
    this.#open = false;
    this.#arrival = Promise.withResolvers();
  }

  /** Lets everybody go. */
  open(): void {
    this.#open = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when somebody waits here. */
  get reached(): Promise<void> {
    return this.#arrival.promise;
  }

  /** Waits while the gate is closed, or until the signal is aborted. */
  async pass(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#open) return;
    this.#arrival.resolve();
    const left = Promise.withResolvers<void>();
    this.#waiting.push(left.resolve);
    const abort = () => left.reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      await left.promise;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }
}

/** Counts how often the relayer passes a named point, and waits for that. */
export class Points {
  readonly #counts = new Map<string, number>();
  #waiting: { point: string; count: number; resolve(): void }[] = [];

  /** Pass it as `config.failpoint`. */
  readonly failpoint = (point: string): void => {
    const count = (this.#counts.get(point) ?? 0) + 1;
    this.#counts.set(point, count);
    this.#waiting = this.#waiting.filter((item) => {
      if (item.point !== point || item.count > count) return true;
      item.resolve();
      return false;
    });
  };

  /** Resolves when the point was passed so often. */
  reached(point: string, count = 1): Promise<void> {
    if ((this.#counts.get(point) ?? 0) >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ point, count, resolve }));
  }
}
