import { transactionDigest } from "../../../../../src/sponsor/answered_transaction.ts";
import { gasBytes } from "../../../../sponsor/fake_sponsor.ts";

/** A request Enoki got. */
export interface Asked {
  readonly path: string;
  readonly authorization: string | null;
  // deno-lint-ignore no-explicit-any -- tests look into bodies whose shape is what they test
  readonly body: any;
}

/** Enoki's two routes over a real socket. */
export class FakeEnoki implements AsyncDisposable {
  readonly asked: Asked[] = [];
  /** Digests that were executed, once for each payment. */
  readonly paid: string[] = [];
  /** Answers instead; `undefined` = as it should. */
  instead: ((request: Request) => Response | Promise<Response> | undefined) | undefined;
  /** Executes, then answers this. */
  lost: Response | undefined;
  readonly #made = new Set<string>();
  readonly #server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => this.#answer(request),
  );

  get base(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async #answer(request: Request): Promise<Response> {
    const body = await request.json();
    const path = new URL(request.url).pathname;
    const authorization = request.headers.get("authorization");
    this.asked.push({ path, authorization, body });
    const other = await this.instead?.(request);
    if (other !== undefined) return other;
    if (path === "/v1/transaction-blocks/sponsor") {
      const kind = Uint8Array.fromBase64(body.transactionBlockKindBytes);
      const sender = Uint8Array.fromHex(body.sender.slice(2));
      const bytes = Uint8Array.of(0, ...kind, ...sender, ...gasBytes(4_000_000, this.asked.length));
      const digest = transactionDigest(bytes);
      this.#made.add(digest);
      return Response.json({ data: { bytes: bytes.toBase64(), digest } });
    }
    const digest = path.split("/").at(-1) ?? "";
    if (!this.#made.has(digest) || this.paid.includes(digest)) {
      return Response.json({ errors: [{ code: "not_found" }] }, { status: 404 });
    }
    this.paid.push(digest);
    return this.lost ?? Response.json({ data: { digest } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
