import { connectionReason } from "../../src/client/connection_reason.ts";
import { SvcError } from "../../src/errors.ts";
import { REFUSALS } from "../refusals.ts";
import { GivenUp, isForbidden, Refused, SessionLost, Unanswered } from "./failures.ts";
import type { Members } from "./json_rpc.ts";
import { NotRepeated, TimedOut, Unreachable } from "./remote_call.ts";

/** What went wrong, for models and people, and its stable name (docs/protocol.md#5). */
interface Explained {
  readonly message: string;
  readonly code: string;
}

/** A successful result: one text and the same as data. */
export function success(text: string, structuredContent: Members): Members {
  return { content: [{ type: "text", text }], structuredContent };
}

/** A result that says what failed (docs/protocol.md#12). */
export function failure({ message, code }: Explained): Members {
  const text = `Tool error: ${message} (code: ${code})`;
  return { content: [{ type: "text", text }], isError: true };
}

/** The answer of memory tools while nobody is signed in. */
export function notSignedIn(reason: string | undefined): Explained {
  const why = reason === undefined || reason === "there is none"
    ? ""
    : ` The credentials file is not used: ${reason}.`;
  return {
    message:
      `You are not signed in.${why} Call svc_login and open the address it returns, or run ` +
      "`svc-mcp login` in a terminal; then call this tool again",
    code: "auth_headers_missing",
  };
}

const REMEDY = "The key may have been removed from the account, this may be another environment " +
  "than the one you signed in to, or an edge, proxy or network fault got in between. The saved " +
  "credentials are kept. If it stays: call svc_logout (or run `svc-mcp logout`), then sign in " +
  "again with the environment you want (--prod, --dev, --staging, --local or --relayer)";

/** Whether the relayer does not accept the key. */
export function isRejection(thrown: unknown): thrown is Refused {
  return thrown instanceof Refused && thrown.status === 401;
}

function explainRefusal(refused: Refused, relayer: string): Explained {
  const { code, status, message } = refused;
  const known = REFUSALS.get(code);
  if (known === undefined && isRejection(refused)) {
    const rejected = `The relayer ${relayer} rejected your key. ${REMEDY}`;
    return { message: rejected, code: code ?? "account_not_authorized" };
  }
  const fallback = status >= 500 ? "sidecar_unavailable" : "invalid_request";
  return { message: `${known ?? message} (${relayer})`, code: code ?? fallback };
}

/** Explains why a call of the relayer at an address failed. */
export function explain(thrown: unknown, relayer: string): Explained {
  if (thrown instanceof Refused) return explainRefusal(thrown, relayer);
  if (thrown instanceof Unreachable) {
    const { cause } = thrown;
    if (cause instanceof Refused) return explain(cause, relayer);
    if (isForbidden(cause)) {
      const message =
        `This program has no permission to reach ${relayer}. Run \`svc-mcp install\` ` +
        "for this host again, or add the relayer to --allow-net";
      return { message, code: "sidecar_unavailable" };
    }
    const reason = connectionReason(cause);
    const why = reason === undefined ? "" : ` (${reason})`;
    return {
      message: `The relayer ${relayer} cannot be reached${why}. Is it running? The connection is ` +
        "tried again all the time; call this tool again later",
      code: "sidecar_unavailable",
    };
  }
  if (thrown instanceof TimedOut || thrown instanceof NotRepeated) {
    return { message: `${thrown.message} (${relayer})`, code: "request_timeout" };
  }
  if (thrown instanceof GivenUp) {
    return {
      message: "You signed out, or signed in anew, meanwhile",
      code: "auth_headers_missing",
    };
  }
  if (thrown instanceof Unanswered || thrown instanceof SessionLost) {
    return { message: `The connection to ${relayer} broke`, code: "sidecar_unavailable" };
  }
  const { message, code } = SvcError.from(thrown);
  return { message, code };
}
