import { errorResponse, SvcError } from "../errors.ts";
import type { Sponsor } from "../interfaces/mod.ts";
import { HEADER } from "../wire/headers.ts";
import { SPONSOR_BODY_BYTES } from "../wire/limits.ts";
import { parseBody } from "../wire/request_members.ts";
import { SPONSOR } from "../wire/table/sponsor.ts";

/** Who pays; holds the key. */
export type PayingBackend = Pick<Sponsor, "sponsor" | "execute">;

export interface SponsorRoutes {
  /** Who pays, once it is open. */
  readonly backend: Promise<PayingBackend>;
  /** Logs failures; the relayer learns only their code. */
  readonly onFailure: (error: SvcError) => void;
}

/** Whether a path belongs to {@linkcode answerSponsor}. */
export function isSponsorPath(path: string): boolean {
  return path === "/sponsor" || path === "/sponsor/execute";
}

/** Reads a body; the relayer has checked it before. */
async function readBody(request: Request): Promise<unknown> {
  if (Number(request.headers.get("content-length") ?? 0) > SPONSOR_BODY_BYTES) {
    throw new SvcError("body_too_large");
  }
  return await request.json().catch(() => {
    throw new SvcError("malformed_json");
  });
}

async function answer(request: Request, backend: PayingBackend): Promise<unknown> {
  const body = await readBody(request);
  if (new URL(request.url).pathname === "/sponsor") {
    const { sender, transactionBlockKindBytes: kindBytes } = parseBody(
      SPONSOR["POST /sponsor"].body,
      body,
    );
    const { bytes, digest } = await backend.sponsor({ sender, kindBytes });
    return { bytes: bytes.toBase64(), digest };
  }
  // Not ended when the relayer leaves: a transaction that is paid for is seen through.
  return await backend.execute(parseBody(SPONSOR["POST /sponsor/execute"].body, body));
}

/**
 * Answers the sidecar's own `POST /sponsor` and `POST /sponsor/execute` for the relayer, which has
 * made every check of docs/protocol.md#9.1 before and is the only one that knows the token.
 */
export async function answerSponsor(
  request: Request,
  { backend, onFailure }: SponsorRoutes,
): Promise<Response> {
  try {
    if (request.method !== "POST") throw new SvcError("method_not_allowed");
    return Response.json(await answer(request, await backend));
  } catch (thrown) {
    const error = SvcError.from(thrown);
    if (error.status >= 500) onFailure(error);
    return errorResponse(error, request.headers.get(HEADER.requestId) ?? "");
  }
}
