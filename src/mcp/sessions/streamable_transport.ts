import {
  type HandleRequestOptions,
  isJSONRPCNotification,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { methodOf } from "../message_body.ts";

/** Requests that came in one POST: one stream has all their responses. */
interface Post {
  /** Those without a response. */
  readonly waiting: Set<RequestId>;
  /** Those that will get none. */
  readonly cancelled: Set<RequestId>;
  /** Whether its client has left, and may ask again. */
  isLeft: boolean;
}

/** The id of a request; the library checks the rest of it. */
function idOf(message: unknown): RequestId | undefined {
  if (typeof methodOf(message) !== "string") return undefined;
  const id: unknown = Reflect.get(message as object, "id");
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

const inUse = (id: RequestId): Response =>
  Response.json({ jsonrpc: "2.0", id, error: { code: -32600, message: "The id is in use" } }, {
    status: 400,
  });

/**
 * Streamable HTTP whose streams end. A cancelled request gets no response, and the library keeps a
 * stream open until each request of its POST has one.
 */
export class StreamableTransport extends WebStandardStreamableHTTPServerTransport {
  readonly #posts = new Map<RequestId, Post>();
  readonly #byBody = new WeakMap<object, Post>();

  override async handleRequest(
    request: Request,
    options: HandleRequestOptions & { readonly parsedBody: unknown },
  ): Promise<Response> {
    const { parsedBody } = options;
    const messages: readonly unknown[] = [parsedBody].flat();
    const post: Post = { waiting: new Set(), cancelled: new Set(), isLeft: false };
    for (const message of messages) {
      const id = idOf(message);
      if (id === undefined) continue;
      // The library would answer the older request on the newer stream, and end its own never.
      if (this.#posts.get(id)?.isLeft === false) return inUse(id);
      post.waiting.add(id);
    }
    for (const id of post.waiting) this.#posts.set(id, post);
    if (typeof parsedBody === "object" && parsedBody !== null) this.#byBody.set(parsedBody, post);
    const response = await super.handleRequest(request, options);
    if (!response.ok) { for (const id of post.waiting) this.#posts.delete(id); }
    for (const message of messages) await this.#cancel(message);
    return response;
  }

  /** Notes that a stream has ended, whoever ended it; `parsedBody` is what it answers. */
  leave(parsedBody: unknown): void {
    const post = typeof parsedBody === "object" && this.#byBody.get(parsedBody as object);
    if (post) post.isLeft = true;
  }

  override async send(
    message: JSONRPCMessage,
    options?: { relatedRequestId?: RequestId },
  ): Promise<void> {
    await super.send(message, options);
    if (!isJSONRPCResponse(message) || message.id === undefined) return;
    const post = this.#posts.get(message.id);
    this.#posts.delete(message.id);
    if (post?.waiting.delete(message.id)) await this.#endIfAnswered(post);
  }

  async #cancel(message: unknown): Promise<void> {
    if (methodOf(message) !== "notifications/cancelled" || !isJSONRPCNotification(message)) return;
    const id = message.params?.["requestId"];
    if (typeof id !== "string" && typeof id !== "number") return;
    const post = this.#posts.get(id);
    if (!post?.waiting.delete(id)) return;
    post.cancelled.add(id);
    await this.#endIfAnswered(post);
  }

  /** Ends a stream that no response will end; the others of its POST come first. */
  async #endIfAnswered({ waiting, cancelled }: Post): Promise<void> {
    if (waiting.size > 0) return;
    for (const id of cancelled) {
      this.closeSSEStream(id);
      this.#posts.delete(id);
      // On a closed stream nobody hears it: the library forgets the requests.
      await super.send({ jsonrpc: "2.0", id, result: {} });
    }
  }
}
