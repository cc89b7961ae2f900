import { answersAreMadeUp } from "../watched_answers.ts";
import "../checked_relayers.ts";
import type { Backends } from "../../src/interfaces/mod.ts";
import { listening } from "../listening.ts";
import { disposeOf, testBackends, TestClock } from "../relayer_fixture.ts";
import { createRelayer, type Relayer, type RelayerOptions } from "../../src/relayer.ts";
import { type HttpListener, listenHttp } from "../../src/http1/http_listener.ts";
import { proving } from "../../src/http1/mutual_proof.ts";
import { StreamedResponse } from "../../src/http1/send_answer.ts";

/** Secret of the fake sidecar. */
export const TOKEN = "token-of-the-test";

/** What a fake sidecar answers to MCP requests. */
export type Answer = (request: Request) => Response | Promise<Response>;

/** Proves itself under a token, and records every other request. */
export class FakeSidecar implements AsyncDisposable {
  readonly #server: HttpListener;
  readonly #asked = new Set<object>();
  /** What the relayer expects it to know. */
  readonly token: string = TOKEN;
  /** Requests besides challenges, oldest first. */
  readonly requests: Request[] = [];
  /** Answers the next requests. */
  answer: Answer;

  /** Listens on a port, a free one by default; a stranger `knows` another token. */
  constructor(
    answer: Answer = () => Response.json({ ok: true }),
    options: { readonly port?: number; readonly knows?: string } = {},
  ) {
    this.answer = answer;
    const { port = 0, knows = TOKEN } = options;
    const answered = proving({ token: knows, listens: "sidecar" }, async (request) => {
      // A copy: what the server hands out cannot be looked into after its answer.
      const { method, url, headers } = request;
      this.requests.push(new Request(url, { method, headers: [...headers] }));
      const response = await this.answer(request);
      // As it comes, whatever it is.
      return response.body === null ? response : new StreamedResponse(response.body, response);
    });
    this.#server = listenHttp({
      hostname: "127.0.0.1",
      port,
      onError() {},
      answer: (request, info) => {
        if (info.target === "/proof") this.#asked.add(info.connection);
        return answered(request, info);
      },
    });
  }

  /** Connections so far that asked for a proof. */
  get challenges(): number {
    return this.#asked.size;
  }

  /** Port it listens on. */
  get port(): number {
    return this.#server.port;
  }

  /** Address for the relayer. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Ends as if killed: every connection breaks. */
  async kill(): Promise<void> {
    await this.#server.shutdown(0);
  }

  /** Ends. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}

/** A relayer that listens, with its public and its internal address. */
export interface Served extends AsyncDisposable {
  readonly relayer: Relayer;
  readonly url: string;
  readonly internalUrl: string;
  readonly port: number;
}

/** Serves a relayer that keeps nothing. */
export async function serve(
  options: Partial<Omit<RelayerOptions, "backends">> & { readonly backends?: Backends } = {},
): Promise<Served> {
  const backends = options.backends ?? await testBackends(new TestClock());
  const relayer = await createRelayer({ ...options, backends });
  const server = listening(relayer.fetch);
  relayer.listensAt(server.url);
  const internal = listening(
    options.sidecar === undefined
      ? (request) => relayer.fetchInternal(request)
      : proving({ token: TOKEN, listens: "relayer" }, relayer.fetchInternal),
  );
  answersAreMadeUp(`${server.url}/api/mcp`);
  return {
    relayer,
    port: server.port,
    url: server.url,
    internalUrl: internal.url,
    async [Symbol.asyncDispose]() {
      await relayer[Symbol.asyncDispose]();
      await Promise.all([server.shutdown(0), internal.shutdown(0)]);
      await disposeOf(backends);
    },
  };
}

/** A request's answer as text lines over a bare connection, so that any header can be sent. */
export async function raw(port: number, head: readonly string[], body = ""): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const text = [...head, "connection: close", "", body].join("\r\n");
  const bytes = new TextEncoder().encode(text);
  for (let done = 0; done < bytes.length;) done += await connection.write(bytes.subarray(done));
  return await new Response(connection.readable).text();
}
