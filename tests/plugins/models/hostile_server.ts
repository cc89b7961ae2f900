/** What the server does with the next requests. */
export type Behaviour = (request: Request) => Response | Promise<Response>;

/** A server on loopback that misbehaves as it is told. */
export class HostileServer implements AsyncDisposable {
  /** What it does. */
  behaviour: Behaviour;
  /** Requests so far. */
  count = 0;
  /** Requests whose client went away before the answer was complete. */
  readonly left: Promise<void>;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  /** Listens at once. */
  constructor(behaviour: Behaviour) {
    this.behaviour = behaviour;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.left = promise;
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
      this.count++;
      request.signal.addEventListener("abort", () => resolve());
      return this.behaviour(request);
    });
  }

  /** Address. */
  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Stops listening. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** Words that an upstream body holds and nobody else may ever see. */
export const PRIVATE = "upstream-private-words";

/** An answer that says no. */
export function refusal(status: number, headers: HeadersInit = {}): Behaviour {
  return () => Response.json({ error: { message: PRIVATE } }, { status, headers });
}

/** A JSON answer. */
export function json(value: unknown): Behaviour {
  return () => Response.json(value);
}

/** Never answers, until the client leaves. */
export const silence: Behaviour = (request) => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  request.signal.addEventListener("abort", () => resolve(new Response()));
  return promise;
};

/** Answers a byte now and then, without an end. */
export const drip: Behaviour = () => {
  let timer: ReturnType<typeof setInterval>;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode("["));
      timer = setInterval(() => controller.enqueue(new Uint8Array([0x20])), 5);
    },
    cancel: () => clearInterval(timer),
  });
  return new Response(body);
};

/** Answers without an end, as fast as it is read. */
export const flood: Behaviour = () => {
  const chunk = new Uint8Array(65_536).fill(0x20);
  return new Response(
    new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(chunk),
    }),
  );
};
