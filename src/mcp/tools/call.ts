import type { z } from "zod";
import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from "@modelcontextprotocol/server";
import type { SvcClient } from "../../client/client.ts";
import { IDEMPOTENCY_META, isIdempotencyKey, SESSION_META } from "../../wire/mcp.ts";
import type { Confirmations } from "./confirmations.ts";
import { InvalidArguments } from "./results.ts";

export interface ToolCall {
  readonly given: unknown;
  /** Signs for the caller. */
  readonly client: SvcClient;
  /** Where people find their dashboard; absent where there is none. */
  readonly webUrl: string | undefined;
  /** Namespace of a call that names none. */
  readonly namespace: string | undefined;
  /** Session that memories are said in, where it is the same whenever the call is repeated. */
  readonly session: string | undefined;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Key of a write that must not happen twice; a fresh one is made when absent. */
  readonly idempotencyKey: string | undefined;
  /** Tells the caller how far the call is. */
  readonly progress: Progress;
  /** Identifies key and account of the caller. */
  readonly caller: string;
  /** Public key of the caller, where it is known. */
  readonly publicKey: string | undefined;
  readonly confirmations: Confirmations;
  readonly asks: Asks;
}

/** How the user can be asked, and what was answered. */
interface Asks {
  /** Whether the host shows questions to its user. */
  readonly canAsk: boolean;
  /** What came back with an answer; nothing says that it is ours. */
  readonly state: string | undefined;
  readonly responses: Record<string, unknown> | undefined;
}

/** @param declared What a host of an earlier revision said when its session began. */
export function asksOf(
  { mcpReq }: Pick<ServerContext, "mcpReq">,
  declared: { readonly elicitation?: object } | undefined,
): Asks {
  const envelope: Readonly<Record<string, typeof declared>> = { ...mcpReq.envelope };
  const own = envelope[CLIENT_CAPABILITIES_META_KEY] ?? declared;
  const form = own?.elicitation as { readonly form?: unknown; readonly url?: unknown } | undefined;
  const state: unknown = mcpReq.requestState();
  return {
    // Without a mode it is a form.
    canAsk: form !== undefined && (form.form !== undefined || form.url === undefined),
    state: typeof state === "string" ? state : undefined,
    responses: mcpReq.inputResponses,
  };
}

/** Waits some milliseconds, or until the signal aborts: then it may reject. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Longest silence of a call whose caller wants to hear of it, in milliseconds. */
const SILENCE_MS = 10_000;

interface Report {
  /** How much of `total` is done; grows. */
  readonly progress: number;
  readonly total: number;
  readonly message: string;
}

/** Progress notifications of one call; silent unless the caller sent a token. */
export class Progress implements Disposable {
  readonly #notify: ((report: Report) => void) | undefined;
  readonly #sleep: Sleep;
  #silence: AbortController | undefined;
  #last: Report = { progress: 0, total: 1, message: "" };

  constructor(context: Pick<ServerContext, "mcpReq">, sleep: Sleep) {
    this.#sleep = sleep;
    const progressToken = context.mcpReq._meta?.progressToken;
    if (progressToken === undefined) return;
    this.#notify = (report) => {
      const notification = {
        method: "notifications/progress",
        params: { progressToken, ...report },
      };
      // A client that is gone hears nothing; the call goes on.
      context.mcpReq.notify(notification).catch(() => {});
    };
  }

  /** Reports a step: `value` of `total`, and what is being done. */
  step(value: number, total: number, message: string): void {
    if (this.#notify === undefined) return;
    this.#send({ progress: value, total, message });
    this.#silence?.abort();
    this.#silence = new AbortController();
    void this.#breakSilence(this.#silence.signal);
  }

  /** Repeats the last report until the next step or the end. */
  async #breakSilence(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await this.#sleep(SILENCE_MS, signal);
        if (signal.aborted) return;
        this.#tick();
      }
    } catch {
      // The silence is over.
    }
  }

  /** Progress must grow: half of what is left to the next step, never reaching it. */
  #tick(): void {
    const { progress, ...rest } = this.#last;
    this.#send({ progress: progress + (Math.floor(progress) + 1 - progress) / 2, ...rest });
  }

  #send(report: Report): void {
    this.#last = report;
    this.#notify?.(report);
  }

  [Symbol.dispose](): void {
    this.#silence?.abort();
  }
}

/** The arguments of a call, of the shape that the table gives a tool. */
export function argumentsOf<S extends z.ZodType>({ input }: { readonly input: S }, call: ToolCall) {
  const { success, data, error } = input.safeParse(call.given ?? {});
  if (success) return data;
  const issues = error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`
  );
  throw new InvalidArguments(issues.join("; "));
}

/** The caller's own idempotency key, `params._meta["svc/idempotency-key"]`. */
export function ownIdempotencyKey(context: Pick<ServerContext, "mcpReq">): string | undefined {
  const key: unknown = context.mcpReq._meta?.[IDEMPOTENCY_META];
  if (key === undefined) return undefined;
  if (isIdempotencyKey(key)) return key;
  throw new InvalidArguments(
    "_meta.svc/idempotency-key: must have 1 to 128 visible ASCII characters",
  );
}

/** The caller's own session, `params._meta["svc/session"]`; the relayer judges its length. */
export function ownSession(context: Pick<ServerContext, "mcpReq">): string | undefined {
  const session: unknown = context.mcpReq._meta?.[SESSION_META];
  if (session === undefined || typeof session === "string") return session;
  throw new InvalidArguments(`_meta.${SESSION_META}: must be a text`);
}

/** What a write of the call says of its session. */
export function sessionOf({ session }: ToolCall): { readonly session?: string } {
  return session === undefined ? {} : { session };
}
