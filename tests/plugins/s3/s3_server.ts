import { createHash, createHmac } from "node:crypto";

/** Credentials that the server knows. */
export const CREDENTIALS = { accessKeyId: "AKIATEST", secretAccessKey: "secret/of+tests" };

/** How a server behaves. */
export interface ServerOptions {
  /** Whether `If-None-Match: *` is obeyed; without it the header is ignored, as some servers do. */
  readonly conditional?: boolean;
  /** Whether the bucket keeps versions; `undefined`: the server does not know the question. */
  readonly versions?: boolean | undefined;
  /** Objects on a page of a list. */
  readonly page?: number;
  readonly region?: string;
  /** Token that requests must carry. */
  readonly sessionToken?: string;
}

/** Answers a request in the server's place, or lets it through. */
export type Fault = (
  request: Request,
) => Response | undefined | Promise<Response | undefined>;

interface Stored {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

const hex = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function xml(status: number, root: string, content: string, headers: HeadersInit = {}): Response {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<${root}>${content}</${root}>`;
  return new Response(body, {
    status,
    headers: { "content-type": "application/xml", ...Object.fromEntries(new Headers(headers)) },
  });
}

/** An answer that says no, as S3 writes it. */
export function refusal(status: number, code: string, headers: HeadersInit = {}): Response {
  const content = `<Code>${code}</Code><Message>Not this time</Message><Resource>/</Resource>`;
  return xml(status, "Error", content, headers);
}

const encoded = (text: string) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/**
 * A bucket named `memories` over HTTP, which takes requests of AWS Signature Version 4 only and checks
 * signature, time and digest of the body by the text of that specification.
 */
export class S3Server implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #options: ServerOptions;
  readonly #objects = new Map<string, Stored>();
  /** Versions that a bucket keeps of what was deleted or replaced. */
  readonly kept: Stored[] = [];
  /** Methods and paths of what was asked, in order. */
  readonly asked: string[] = [];
  /** Answers in the server's place. */
  fault: Fault | undefined;
  /** Answers after the work was done: what the caller then gets in place of the answer. */
  lost: Fault | undefined;

  constructor(options: ServerOptions = {}) {
    this.#options = options;
    this.#server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {}, onError: () => new Response(null) },
      (request) => this.#answer(request),
    );
  }

  /** Where it listens. */
  get endpoint(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Names of all objects, in their order. */
  get names(): string[] {
    return [...this.#objects.keys()].sort();
  }

  /** All that it holds, as one text: to look for what should not be there. */
  get everything(): string {
    return [...this.#objects].map(([name, { bytes, headers }]) =>
      [name, JSON.stringify(headers), new TextDecoder("latin1").decode(bytes)].join("\n")
    ).join("\n");
  }

  /** Puts other bytes in the place of an object's. */
  alter(name: string, bytes: Uint8Array<ArrayBuffer>): void {
    this.#objects.set(name, { bytes, headers: this.#objects.get(name)?.headers ?? { etag: "" } });
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    this.asked.push(`${request.method} ${url.pathname}${url.search}`);
    const answer = await this.fault?.(request);
    if (answer !== undefined) return answer;
    const body = new Uint8Array(await request.arrayBuffer());
    const problem = this.#refuse(request, url, body);
    if (problem !== undefined) return problem;
    const result = this.#act(request, url, body);
    return await this.lost?.(request) ?? result;
  }

  /** Why a request is not to be trusted. */
  #refuse(request: Request, url: URL, body: Uint8Array): Response | undefined {
    const { headers, method } = request;
    const form =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, SignedHeaders=([\w;-]+), Signature=([\da-f]{64})$/;
    const [, id, day, region, names, signature] = form.exec(headers.get("authorization") ?? "") ??
      [];
    if (signature === undefined) return refusal(403, "AccessDenied");
    if (id !== CREDENTIALS.accessKeyId) return refusal(403, "InvalidAccessKeyId");
    if (region !== (this.#options.region ?? "us-east-1")) {
      return refusal(400, "AuthorizationHeaderMalformed");
    }
    const time = headers.get("x-amz-date") ?? "";
    const at = Date.parse(
      time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"),
    );
    if (!(Math.abs(Date.now() - at) < 15 * 60_000)) return refusal(403, "RequestTimeTooSkewed");
    const signed = names!.split(";");
    const unsigned = [...headers.keys()]
      .filter((name) => /^x-amz-|^if-|^host$/.test(name) && !signed.includes(name));
    if (unsigned.length > 0) return refusal(403, "AccessDenied");
    if (headers.get("x-amz-content-sha256") !== hex(body)) {
      return refusal(400, "XAmzContentSHA256Mismatch");
    }
    if ((headers.get("x-amz-security-token") ?? undefined) !== this.#options.sessionToken) {
      return refusal(400, "InvalidToken");
    }
    const query = [...url.searchParams].map((pair) => pair.map(encoded).join("=")).sort().join("&");
    const canonical = [
      method,
      url.pathname.split("/").map((part) => encoded(decodeURIComponent(part))).join("/"),
      query,
      ...signed.map((name) => `${name}:${(headers.get(name) ?? "").trim()}`),
      "",
      names,
      hex(body),
    ].join("\n");
    const text = ["AWS4-HMAC-SHA256", time, `${day}/${region}/s3/aws4_request`]
      .concat(hex(new TextEncoder().encode(canonical))).join("\n");
    const key = [day!, region!, "s3", "aws4_request"].reduce<string | Uint8Array>(
      (under, part) => createHmac("sha256", under).update(part).digest(),
      `AWS4${CREDENTIALS.secretAccessKey}`,
    );
    const wanted = createHmac("sha256", key).update(text).digest("hex");
    return wanted === signature ? undefined : refusal(403, "SignatureDoesNotMatch");
  }

  #act({ method, headers }: Request, url: URL, body: Uint8Array<ArrayBuffer>): Response {
    const [, bucket, ...rest] = url.pathname.split("/").map(decodeURIComponent);
    if (bucket !== "memories") return refusal(404, "NoSuchBucket");
    const name = rest.join("/");
    const { versions, conditional = true } = this.#options;
    if (name === "") {
      if (url.searchParams.has("versioning")) {
        if (versions === undefined) return refusal(501, "NotImplemented");
        const status = versions ? "<Status>Enabled</Status>" : "";
        return xml(200, "VersioningConfiguration", status);
      }
      return this.#list(url.searchParams);
    }
    const stored = this.#objects.get(name);
    const about = versions === true ? { "x-amz-version-id": "3HL4kqtJlcpXroDTDmJ" } : {};
    switch (method) {
      case "PUT": {
        const isThere = stored !== undefined;
        if (conditional && isThere && headers.get("if-none-match") === "*") {
          return refusal(412, "PreconditionFailed");
        }
        if (isThere && versions === true) this.kept.push(stored);
        const own = [...headers].filter(([key]) => key.startsWith("x-amz-meta-"));
        const etag = `"${createHash("md5").update(body).digest("hex")}"`;
        this.#objects.set(name, { bytes: body, headers: { ...Object.fromEntries(own), etag } });
        return new Response(null, { headers: { etag, ...about } });
      }
      case "HEAD":
      case "GET":
        if (stored === undefined) {
          return method === "HEAD"
            ? new Response(null, { status: 404 })
            : refusal(404, "NoSuchKey");
        }
        return new Response(method === "HEAD" ? null : stored.bytes, {
          headers: { ...stored.headers, ...about },
        });
      case "DELETE":
        this.#objects.delete(name);
        if (stored !== undefined && versions === true) this.kept.push(stored);
        return new Response(null, {
          status: 204,
          headers: versions === true ? { ...about, "x-amz-delete-marker": "true" } : {},
        });
      default:
        return refusal(405, "MethodNotAllowed");
    }
  }

  #list(query: URLSearchParams): Response {
    const { page = 1000 } = this.#options;
    const prefix = query.get("prefix") ?? "";
    const after = query.get("continuation-token");
    const names = this.names.filter((name) =>
      name.startsWith(prefix) && (after === null || name > atob(after))
    );
    const shown = names.slice(0, page);
    const isTruncated = names.length > page;
    const contents = shown.map((name) => {
      const { bytes, headers } = this.#objects.get(name)!;
      const etag = headers.etag!.replaceAll('"', "&quot;");
      return `<Contents><Key>${name}</Key><LastModified>2026-11-25T10:00:00.000Z</LastModified>` +
        `<ETag>${etag}</ETag><Size>${bytes.length}</Size></Contents>`;
    });
    const token = isTruncated
      ? `<NextContinuationToken>${btoa(shown.at(-1)!)}</NextContinuationToken>`
      : "";
    const head = `<Name>memories</Name><Prefix>${prefix}</Prefix><KeyCount>${shown.length}` +
      `</KeyCount><IsTruncated>${isTruncated}</IsTruncated>${token}`;
    return xml(200, "ListBucketResult", head + contents.join(""));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
