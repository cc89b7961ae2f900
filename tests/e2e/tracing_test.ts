import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { readCredentials } from "../../src/client/credentials_file.ts";
import { SvcClient } from "../../src/client/mod.ts";
import { inHome, Program, relayerEnv } from "../program.ts";
import { poll } from "../within.ts";
import { runCommand } from "./mcp_relayer.ts";

/** A span as OTLP writes it in JSON (https://opentelemetry.io/docs/specs/otlp/#otlphttp). */
interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
}

/** Takes what is exported, as a collector would, and keeps every byte. */
class Collector implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly spans: (SentSpan & { readonly service: string })[] = [];
  received = "";

  constructor() {
    const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
    this.#server = Deno.serve(options, async (request) => {
      const text = new TextDecoder("latin1").decode(await request.bytes());
      this.received += text;
      if (new URL(request.url).pathname === "/v1/traces") this.#take(JSON.parse(text));
      return Response.json({});
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  // deno-lint-ignore no-explicit-any -- the exporter's own shape, of which three members are read
  #take({ resourceSpans }: any): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = resource.attributes
        .find(({ key }: { key: string }) => key === "service.name").value.stringValue;
      for (const { spans } of scopeSpans) {
        for (const span of spans) this.spans.push({ ...span, service });
      }
    }
  }

  /** The first span of a name. */
  find(name: string): SentSpan & { readonly service: string } {
    const found = this.spans.find((span) => span.name === name);
    assert.ok(found, `${name} is not among ${this.spans.map((span) => span.name).join(", ")}`);
    return found;
  }

  /** Names from a span up to the first one of its trace. */
  above(span: SentSpan): string[] {
    const parent = this.spans.find(({ spanId, traceId }) =>
      spanId === span.parentSpanId && traceId === span.traceId
    );
    return parent === undefined ? [span.name] : [span.name, ...this.above(parent)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

const TEXT = "The spare key is under the blue flower pot";
const QUERY = "where would a burglar look";
const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const GIVEN = `00-${TRACE_ID}-b7ad6b7169203331-01`;
/** What names no span: each begins a trace of its own. */
const HOSTILE = [
  `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
  `00-${TRACE_ID}-${"0".repeat(16)}-01`,
  `00-${TRACE_ID.toUpperCase()}-b7ad6b7169203331-01`,
  `00-${TRACE_ID}-b7ad6b7169203331-01-more`,
  `00-${TRACE_ID}-b7ad6b7169203331-01, 00-${TRACE_ID}-b7ad6b7169203331-01`,
  `ff-${TRACE_ID}-b7ad6b7169203331-01`,
  "a secret of somebody",
];

/** The forms in which the bytes of a key could leave. */
function formsOf(key: string): string[] {
  const bytes = Uint8Array.fromHex(key);
  return [
    key,
    bytes.toBase64({ omitPadding: true }),
    bytes.toBase64({ alphabet: "base64url", omitPadding: true }),
    new TextDecoder("latin1").decode(bytes),
  ];
}

Deno.test("a remember and an MCP recall are traces, without a text", async () => {
  await inHome(async (home) => {
    await using collector = new Collector();
    const env = { ...relayerEnv(home), SVC_LOG_LEVEL: "info" };
    await runCommand(["account", "create", "--save"], { ...env, SVC_PORT: "8000" });
    const { credentials } = await readCredentials(`${home}/.svc/credentials.json`);
    const { delegatePrivateKey: privateKey = "", accountId = "" } = credentials ?? {};
    {
      await using program = new Program(["start"], {
        ...env,
        OTEL_DENO: "true",
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_BSP_SCHEDULE_DELAY: "100",
      });
      const { port } = await program.event("listening");
      const baseUrl = `http://127.0.0.1:${port}`;
      const client = new SvcClient({ baseUrl, privateKey, accountId });
      const { job_id } = await client.remember(TEXT);
      await client.waitFor(job_id, { until: "done" });
      const mcp = new Client({ name: "tracing", version: "1" });
      const headers = { authorization: `Bearer ${privateKey}`, "x-svc-account-id": accountId };
      const url = new URL(`${baseUrl}/api/mcp`);
      await mcp.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
      const found = await mcp.callTool({ name: "svc_recall", arguments: { query: QUERY } });
      assert.match(JSON.stringify(found), /blue flower pot/);
      await mcp.close();
      for (const traceparent of [GIVEN, ...HOSTILE]) {
        const answer = await fetch(`${baseUrl}/openapi.json`, { headers: { traceparent } });
        await answer.body?.cancel();
      }
      await poll(
        () => collector.spans.filter(({ name }) => name === "GET /openapi.json").length,
        (count) => count > HOSTILE.length,
      );
      await poll(
        () => collector.spans.map(({ name }) => name),
        (names) => names.includes("tools/call svc_recall") && names.includes("job end"),
      );
      await poll(() => collector.spans.length, (count) => count > 10);
    }

    const remember = collector.find("POST /api/remember");
    assert.equal(remember.service, "svc-relayer");
    for (const step of ["job embed", "job seal", "job index", "job store", "job end"]) {
      assert.deepEqual(collector.above(collector.find(step)), [step, "job", remember.name]);
    }
    const stored = collector.above(collector.find("blob_store put"));
    assert.deepEqual(stored, ["blob_store put", "job store", "job", remember.name]);

    const call = collector.find("tools/call svc_recall");
    assert.equal(call.service, "svc-sidecar");
    const recall = collector.find("POST /api/recall");
    assert.equal(recall.traceId, call.traceId, "one trace through both processes");
    const way = collector.above(recall);
    assert.ok(way.includes("tools/call svc_recall"), way.join(" < "));
    assert.equal(way.at(-1), "POST /api/mcp");
    const search = collector.spans.find(({ name, traceId }) =>
      name.startsWith("embedder") && traceId === call.traceId
    );
    assert.ok(search, "the query's vector is part of the trace");

    const asked = collector.spans.filter(({ name }) => name === "GET /openapi.json");
    assert.equal(
      asked.filter(({ traceId }) => traceId === TRACE_ID).length,
      1,
      "only the valid one",
    );
    assert.equal(new Set(asked.map(({ traceId }) => traceId)).size, asked.length);

    const relayerKey = (await Deno.readTextFile(`${home}/.svc/relayer.key`)).trim();
    const keys = [privateKey, relayerKey].flatMap(formsOf);
    for (const secret of [TEXT, "flower", QUERY, "burglar", "a secret of", ...keys, accountId]) {
      assert.ok(!collector.received.includes(secret), `${secret.slice(0, 12)} was exported`);
    }
  });
});

Deno.test("without OTEL_DENO nothing is exported", async () => {
  await inHome(async (home) => {
    await using collector = new Collector();
    const env = { ...relayerEnv(home), OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    await using program = new Program(["start"], env);
    const { port } = await program.event("listening");
    const answer = await fetch(`http://127.0.0.1:${port}/version`);
    await answer.body?.cancel();
    assert.equal(collector.received, "");
  });
});
