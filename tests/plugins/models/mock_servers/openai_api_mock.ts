/**
 * Serves the npm package openai-api-mock over a socket. It answers requests of its own process, so
 * that this passes on what comes, and prints its port.
 */
import { mockOpenAIResponse } from "openai-api-mock";

mockOpenAIResponse(true, { seed: 1 });
Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => Deno.stdout.writeSync(new TextEncoder().encode(`${port}\n`)),
}, async ({ method, url, headers, body }) => {
  const sent = body === null ? {} : { body: await new Response(body).text() };
  const target = `https://api.openai.com${new URL(url).pathname}`;
  const type = { "content-type": headers.get("content-type") ?? "" };
  try {
    const answer = await fetch(target, { method, headers: type, ...sent });
    return new Response(await answer.text(), {
      status: answer.status,
      headers: { "content-type": answer.headers.get("content-type") ?? "" },
    });
  } catch {
    // What the package does not answer would go to the network, which it forbids.
    return new Response("no such route", { status: 404 });
  }
});
