import assert from "node:assert/strict";
import { SvcClient, SvcError } from "../../src/client/mod.ts";
import type { OpenProgram } from "../mcp_program.ts";

/** What traffic is sent with. */
export interface Sender {
  readonly base: string;
  /** Headers of MCP requests, with the delegate key as bearer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly client: SvcClient;
  /** A session of MCP that stays. */
  readonly session: string;
}

/** A kind of request; `number` counts all of them. */
interface Kind {
  /** How many of twenty are of this kind. */
  readonly share: number;
  /** Whether its time is looked at. */
  readonly isTimed?: boolean;
  send(sender: Sender, number: number): Promise<unknown>;
}

const NAMESPACES = 10;
/** Ids of messages: two that are under way in a session must differ. */
let messages = 0;

function namespaceOf(number: number): string {
  return `soak ${number % NAMESPACES}`;
}

async function mcp(
  { base, headers }: Pick<Sender, "base" | "headers">,
  method: string,
  params: unknown,
  session?: string,
): Promise<{ readonly text: string; readonly session: string }> {
  const response = await fetch(`${base}/api/mcp`, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session === undefined ? {} : { "mcp-session-id": session }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: ++messages, method, params }),
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return { text, session: response.headers.get("mcp-session-id") ?? "" };
}

async function openSession(sender: Pick<Sender, "base" | "headers">): Promise<string> {
  const clientInfo = { name: "soak", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  return (await mcp(sender, "initialize", params)).session;
}

async function closeSession({ base, headers }: Sender, session: string): Promise<void> {
  const response = await fetch(`${base}/api/mcp`, {
    method: "DELETE",
    headers: { ...headers, "mcp-session-id": session },
  });
  await response.body?.cancel();
  assert.ok(response.ok);
}

/** What is written is deleted, so that the data stays as much as it is. */
async function rememberAndDelete({ client }: Sender, number: number): Promise<void> {
  const namespace = namespaceOf(number);
  const { job_id } = await client.remember(`A passing thought, number ${number}`, { namespace });
  const { memory_id } = await client.waitFor(job_id);
  await client.deleteMemory(memory_id);
}

async function analyzeAndForget({ client }: Sender, number: number): Promise<void> {
  const namespace = `passing ${number}`;
  const text = `I drink tea, cup ${number}. My brother lives in Lisbon. We met in May.`;
  const { job_ids } = await client.analyze(text, { namespace });
  await client.waitForAll(job_ids);
  await client.forget(namespace);
}

async function passingSession(sender: Sender): Promise<void> {
  const session = await openSession(sender);
  await mcp(sender, "tools/list", {}, session);
  await closeSession(sender, session);
}

/** A stream that its client leaves after the first event. */
async function leftStream({ base, headers }: Sender): Promise<void> {
  const response = await fetch(`${base}/api/mcp/sse`, { headers });
  assert.equal(response.status, 200);
  const reader = response.body!.getReader();
  await reader.read();
  await reader.cancel();
}

/** A connection that ends in the middle of a head. */
async function halfRequest({ base }: Sender): Promise<void> {
  const { hostname, port } = new URL(base);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  await connection.write(new TextEncoder().encode("POST /api/recall HTTP/1.1\r\nhost: a"));
}

async function refused({ base, client }: Sender, number: number): Promise<void> {
  const response = await fetch(`${base}/api/recall`, {
    method: "POST",
    body: `{"query":${number}`,
  });
  await response.body?.cancel();
  assert.equal(response.status, 401);
  await assert.rejects(client.memory(crypto.randomUUID()), (error: unknown) => {
    return error instanceof SvcError && error.code === "memory_not_found";
  });
}

const KINDS: Readonly<Record<string, Kind>> = {
  "the same recall": {
    share: 6,
    isTimed: true,
    send: ({ client }) => client.recall("What do I drink?", { namespace: "soak 0" }),
  },
  "another recall": {
    share: 3,
    isTimed: true,
    send: ({ client }, number) =>
      client.recall(`What happened on day ${number}?`, { namespace: namespaceOf(number) }),
  },
  "a list": {
    share: 2,
    isTimed: true,
    send: ({ client }, number) => client.memories({ namespace: namespaceOf(number), limit: 20 }),
  },
  "a recall over MCP": {
    share: 3,
    send: (sender, number) => {
      const params = { name: "svc_recall", arguments: { query: `day ${number % 50}` } };
      return mcp(sender, "tools/call", params, sender.session);
    },
  },
  "a write": { share: 1, send: rememberAndDelete },
  "an analysis": { share: 1, send: analyzeAndForget },
  "a session": { share: 1, send: passingSession },
  "a stream that is left": { share: 1, send: leftStream },
  "half a request": { share: 1, send: halfRequest },
  "a refusal": { share: 1, send: refused },
};

/** The kinds in turns, as often as their shares say. */
const TURNS: readonly string[] = Object.entries(KINDS).flatMap(([name, { share }]) => {
  return Array.from({ length: share }, (_, i) => ({ name, at: (i + 0.5) / share }));
}).sort((a, b) => a.at - b.at).map(({ name }) => name);

/** Sends request `number`; answers its kind, and whether its time is looked at. */
export async function send(
  sender: Sender,
  number: number,
): Promise<{ readonly kind: string; readonly isTimed: boolean }> {
  const kind = TURNS[number % TURNS.length]!;
  try {
    await KINDS[kind]!.send(sender, number);
  } catch (cause) {
    throw new Error(`${kind}: ${cause}`, { cause });
  }
  return { kind, isTimed: KINDS[kind]!.isTimed === true };
}

/** Fills a started program with so many memories, and opens the session that stays. */
export async function senderOf(program: OpenProgram, memories: number): Promise<Sender> {
  const { base, headers, secret } = program;
  const accountId = headers["x-svc-account-id"]!;
  const client = new SvcClient({ baseUrl: base, privateKey: secret, accountId });
  const texts = Array.from({ length: memories }, (_, i) => ({
    text: `On day ${i} I drank tea number ${i % 17} with a friend from street ${i % 101}`,
    namespace: namespaceOf(i),
  }));
  for (let i = 0; i < texts.length; i += 20) {
    const { job_ids } = await client.rememberBulk(texts.slice(i, i + 20));
    await client.waitForAll(job_ids);
  }
  return { base, headers, client, session: await openSession({ base, headers }) };
}
