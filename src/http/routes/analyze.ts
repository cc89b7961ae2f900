import type { z } from "zod";
import type { AcceptedJob } from "../../jobs/job.ts";
import { type Analysis, analyze } from "../../memory/analyze/analyze.ts";
import { ask } from "../../memory/ask/ask.ts";
import { ANALYZE_FACTS, ASK_LIMIT_MAX } from "../../wire/limits.ts";
import { AnalyzeBody, AskBody } from "../../wire/schemas.ts";
import type { Domain } from "../../memory/domain.ts";
import { type Answer, type Call, type SignedRoute, signedRoute } from "../route.ts";
import { recallOptions } from "./recall.ts";

function analyzed(
  { facts, method }: Analysis,
  jobs: readonly AcceptedJob[],
  owner: string,
): Answer {
  const ids = jobs.map((job) => job.id);
  return {
    status: 202,
    body: {
      job_ids: ids,
      facts: ids.map((id, i) => ({
        text: facts[i]?.text ?? "",
        id,
        job_id: id,
        memory_id: id,
      })),
      fact_count: ids.length,
      total: ids.length,
      status: "pending",
      owner,
      method,
    },
  };
}

async function analyzeText(
  domain: Domain,
  call: Call<z.output<typeof AnalyzeBody>>,
): Promise<Answer> {
  const { text, namespace, occurred_at } = call.body;
  const { owner } = call.caller.account;
  let answer: Answer | undefined;
  const input = { text, namespace, occurredAt: occurred_at, mostFacts: ANALYZE_FACTS };
  const analysis = await analyze(domain, call.caller, input, (found, jobs) => {
    answer = analyzed(found, jobs, owner);
    return call.keep(answer);
  });
  return answer ?? analyzed(analysis, [], owner);
}

/** Analyze and ask (docs/protocol.md#10.5 and #10.7). */
export const analyzeRoutes: readonly SignedRoute[] = [
  signedRoute({
    method: "POST",
    path: "/api/analyze",
    permissions: ["write"],
    weight: 10,
    writes: true,
    idempotent: true,
    schema: AnalyzeBody,
    summary: "Extract the facts of a text and store each",
    success: 202,
    handle: analyzeText,
  }),
  signedRoute({
    method: "POST",
    path: "/api/ask",
    permissions: ["read"],
    weight: 2,
    schema: AskBody,
    summary: "Answer a question from the memories",
    handle: async (domain, call) => {
      const { body, caller } = call;
      const options = recallOptions(body, ASK_LIMIT_MAX);
      const found = await ask(domain, caller, body.question, options);
      const { answer, mode, memories, dropped, pending } = found;
      return {
        status: 200,
        body: {
          answer,
          memories_used: memories.length,
          memories,
          answer_mode: mode,
          ...(pending > 0 ? { pending } : {}),
          ...(dropped > 0 ? { dropped_count: dropped } : {}),
        },
      };
    },
  }),
];
