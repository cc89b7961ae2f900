import { StreamedResponse } from "../../http1/send_answer.ts";
import { exportLines } from "../../memory/portable/export.ts";
import { importMemories } from "../../memory/portable/import.ts";
import { writtenStanding } from "../../memory/standing.ts";
import type { Answer, SignedHandlers } from "../route.ts";

/** Bytes of lines as they come, each part charged for. */
async function* bytesOf(
  lines: AsyncIterable<string>,
  spend: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  for await (const part of lines) {
    const bytes = encoder.encode(part);
    spend(bytes.length);
    yield bytes;
  }
}

/** All of somebody's memories, out and in. */
export const portableHandlers = {
  "POST /api/export": async (domain, { caller, body, spend }) => {
    const lines = exportLines(domain, caller, body);
    // What refuses the whole export refuses it before the answer begins.
    const header = await lines.next();
    async function* all() {
      if (!header.done) yield header.value;
      yield* lines;
    }
    return new StreamedResponse(ReadableStream.from(bytesOf(all(), spend)), {
      headers: { "content-type": "application/x-ndjson", "cache-control": "no-store" },
    });
  },
  "POST /api/import": async (domain, call): Promise<Answer<"POST /api/import">> => {
    const { caller, body: { memories, bad }, query, keep, spend } = call;
    spend(memories.reduce((sum, { text }) => sum + text.length, 0));
    const given = memories.map(({ memory_id, version = 1, ...line }) => ({
      line: line.line,
      isEarlier: line.isEarlier,
      namespace: line.namespace,
      text: line.text,
      memoryId: memory_id,
      version,
      metadata: line.metadata,
      importance: line.importance,
      occurredAt: line.occurred_at,
      expiresAt: line.expires_at,
      createdAt: line.created_at,
      updatedAt: line.updated_at,
      key: line.key,
      session: line.session,
      position: line.position,
      // What another product wrote is not what this account's owner said here.
      standing: writtenStanding(
        memory_id === undefined ? { trust: "import" as const, ...line } : line,
        line.links,
      ),
    }));
    return await importMemories(domain, caller, given, {
      bringBack: query.bring_back,
      secrets: query.secrets,
      answering: (jobs, { skipped, refused, redacted }) => {
        const secret = refused.map(({ line, error: { code, message } }) => ({
          line,
          code,
          error: message,
        }));
        const errors = [...bad, ...secret].sort((a, b) => a.line - b.line);
        return keep({
          status: 202,
          body: {
            accepted: jobs.length,
            skipped: skipped.length,
            failed: errors.length,
            job_ids: jobs.map(({ id }) => id),
            skips: skipped,
            errors,
            status: "pending",
            redacted,
          },
        });
      },
    });
  },
} satisfies Partial<SignedHandlers>;
