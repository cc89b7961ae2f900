/** The least an MCP relayer can do: sessions of Streamable HTTP, tool calls that answer at once. */
import { VERSION } from "../../src/wire/version.ts";

const RESULT = { content: [{ type: "text", text: "No matching memories found." }] };

Deno.serve(
  { hostname: "127.0.0.1", port: Number(Deno.args[0]), onListen() {} },
  async (request) => {
    if (request.method === "GET") return new Response(VERSION);
    if (request.method === "DELETE") return new Response();
    const { id, method, params } = await request.json();
    if (id === undefined) return new Response(null, { status: 202 });
    const { protocolVersion } = params;
    const result = method === "initialize" ? { protocolVersion, capabilities: {} } : RESULT;
    const text = `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`;
    const headers = { "content-type": "text/event-stream", "mcp-session-id": "0123456789abcdef" };
    return new Response(text, { headers });
  },
);
