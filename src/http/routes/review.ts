import { choosePolicies, conflictPolicy } from "../../memory/links/policy.ts";
import { decide, listReview } from "../../memory/links/review.ts";
import { scopeOf } from "../../memory/caller.ts";
import type { Answer, SignedHandlers } from "../route.ts";
import { acceptedVersionBody, memoryBody } from "./memories.ts";

/** What rules found about memories, and what becomes of it. */
export const reviewHandlers = {
  "GET /api/review": async (domain, { caller, query }): Promise<Answer<"GET /api/review">> => {
    const { items, total, nextCursor } = await listReview(domain, caller, {
      ...query,
      cursor: query.cursor || undefined,
    });
    return {
      status: 200,
      body: {
        items: items.map(({ memory, reasons, links }) => ({
          ...memoryBody(domain, caller, memory),
          reasons: [...reasons],
          links: links.map(({ id: memory_id, kind, by, score, text, textError: text_error }) => ({
            memory_id,
            kind,
            by,
            score,
            text,
            text_error,
          })),
        })),
        total,
        conflicts: conflictPolicy(domain, scopeOf(caller, query.namespace)),
        next_cursor: nextCursor,
      },
    };
  },
  "POST /api/review": async (domain, call): Promise<Answer<"POST /api/review">> => {
    const { memory_id: id, decision, other_id: otherId } = call.body;
    const given = { id, decision, otherId };
    const { answer } = await decide(
      domain,
      call.caller,
      given,
      (job, redacted) =>
        call.keep({ status: 202, body: acceptedVersionBody(domain, job, redacted) }),
    );
    return answer;
  },
  "PUT /api/namespaces": (domain, { caller, body: { namespace, ...chosen } }) => ({
    status: 200,
    body: { namespace, ...choosePolicies(domain, caller, namespace, chosen) },
  }),
} satisfies Partial<SignedHandlers>;
