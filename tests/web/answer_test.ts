import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { answerWeb, type WebOptions } from "../../src/http/dashboard/answer.ts";
import { browserNode } from "../../src/program/dashboard.ts";
import { NODES } from "../../src/wire/networks.ts";
import { readWebFiles, WEB_FILES } from "../../src/http/dashboard/files.ts";
import { listenWeb } from "../../src/http/dashboard/listen.ts";
import { verifies } from "../requirements.ts";
import { freePort } from "../free_port.ts";

const files = await readWebFiles(new URL("../../web/dist/", import.meta.url));
const OPTIONS: WebOptions = {
  webUrl: "http://localhost:5173",
  relayerUrl: "http://127.0.0.1:8000",
  accounts: "local",
  version: "1.2.3",
  files,
};

function ask(
  path: string,
  headers: Record<string, string> = {},
  init: { method?: string; options?: WebOptions } = {},
): Response {
  const { method = "GET", options = OPTIONS } = init;
  const all = { host: new URL(options.webUrl).host, ...headers };
  return answerWeb(new Request(`http://${all.host}${path}`, { method, headers: all }), options);
}

Deno.test("every answer forbids inline code, frames and strangers", async () => {
  verifies("15-32");
  for (const path of ["/", "/connect/mcp?port=1", "/app.js", "/config.json", "/nothing"]) {
    const response = ask(path);
    await response.body?.cancel();
    const { headers } = response;
    const policy = new Map(
      headers.get("content-security-policy")?.split("; ").map((line) => {
        const [name = "", ...values] = line.split(" ");
        return [name, values.join(" ")];
      }),
    );
    assert.equal(policy.get("default-src"), "'none'");
    assert.equal(policy.get("script-src"), "'self'");
    assert.equal(policy.get("style-src"), "'self'");
    assert.equal(policy.get("frame-ancestors"), "'none'");
    assert.equal(
      policy.get("connect-src"),
      "'self' http://127.0.0.1:8000 http://127.0.0.1:*",
    );
    assert.equal(headers.get("x-frame-options"), "DENY");
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("access-control-allow-origin"), null);
  }
});

Deno.test("the host of HTTP/2 is in the address", async () => {
  for (const [host, status] of [["localhost:5173", 200], ["evil.example.com", 403]] as const) {
    const response = answerWeb(new Request(`http://${host}/`), OPTIONS);
    await response.body?.cancel();
    assert.equal(response.status, status, host);
  }
});

Deno.test("the pages hold nothing inline and load nothing from elsewhere", () => {
  verifies("15-32");
  const text = (name: string) => new TextDecoder().decode(files.get(name)?.bytes);
  const page = text("index.html");
  assert.doesNotMatch(page, /<script(?![^>]* src="\/)/);
  assert.doesNotMatch(page, /<style|\sstyle=|\son[a-z]+=/);
  for (const [, address] of page.matchAll(/(?:src|href)="([^"]*)"/g)) {
    assert.match(address ?? "", /^\/[\w.]+$/);
  }
  assert.doesNotMatch(text("app.css"), /@import|url\(/);
});

Deno.test("the pages and their files are served, and nothing else", async () => {
  for (const path of ["/", "/memories", "/apps", "/account", "/connect/mcp", "/connect/app"]) {
    const response = ask(path);
    assert.equal(response.status, 200, path);
    assert.match(await response.text(), /<div id="app">/);
  }
  for (const [name, type] of Object.entries(WEB_FILES)) {
    const response = ask(`/${name}`);
    assert.equal(response.headers.get("content-type"), type);
    await response.body?.cancel();
  }
  for (
    const path of ["/deno.json", "/../main.ts", "/%2e%2e/main.ts", "//app.js", "/app.js/", "/src"]
  ) {
    const response = ask(path);
    assert.equal(response.status, 404, path);
    await response.body?.cancel();
  }
  const posted = ask("/", {}, { method: "POST" });
  assert.equal(posted.status, 405);
  assert.equal(posted.headers.get("allow"), "GET, HEAD");
  const head = ask("/app.js", {}, { method: "HEAD" });
  assert.equal(await head.text(), "");
  assert.equal(head.headers.get("content-length"), String(files.get("app.js")?.bytes.length));
});

Deno.test("files are compressed for those who can read them, and sent once", async () => {
  const zipped = ask("/app.js", { "accept-encoding": "br, gzip" });
  assert.equal(zipped.headers.get("content-encoding"), "gzip");
  const bytes = gunzipSync(new Uint8Array(await zipped.arrayBuffer()));
  assert.deepEqual(new Uint8Array(bytes), files.get("app.js")?.bytes);
  const tag = zipped.headers.get("etag") ?? "";
  assert.equal(ask("/app.js", { "if-none-match": tag }).status, 304);
  const plain = ask("/app.js");
  assert.equal(plain.headers.get("content-encoding"), null);
  await plain.body?.cancel();
});

Deno.test("a name that was rebound to this machine gets nothing", async () => {
  for (const host of ["evil.example:5173", "localhost.evil.example", "127.0.0.1.evil.example"]) {
    const response = ask("/", { host });
    assert.equal(response.status, 403, host);
    await response.body?.cancel();
  }
});

Deno.test("a Host that no address can have is refused", async () => {
  const port = freePort();
  const dashboard = listenWeb(port, OPTIONS, () => {});
  for (const host of ["a b", "[", "localhost:99999", "a/../b@c"]) {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port });
    const head = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    await connection.write(new TextEncoder().encode(head));
    assert.match(await new Response(connection.readable).text(), /^HTTP\/1.1 40[03] /, host);
  }
  await dashboard.shutdown(1000);
});

Deno.test("another loopback name leads to the address that holds the keys", async () => {
  const response = ask("/connect/mcp?port=2000&state=a", { host: "127.0.0.1:5173" });
  assert.equal(response.status, 307);
  assert.equal(
    response.headers.get("location"),
    "http://localhost:5173/connect/mcp?port=2000&state=a",
  );
  // Behind a proxy the Host may be the proxy's idea of this machine.
  const options = { ...OPTIONS, webUrl: "https://memory.example" };
  const proxied = ask("/", { host: "localhost:5173" }, { options });
  assert.equal(proxied.status, 200);
  await proxied.body?.cancel();
  const named = ask("/", { host: "memory.example" }, { options });
  assert.equal(named.status, 200);
  await named.body?.cancel();
});

Deno.test("the page is told where its relayer is", async () => {
  const { files: _, ...told } = OPTIONS;
  const response = ask("/config.json");
  assert.deepEqual(await response.json(), told);
  assert.equal(response.headers.get("cache-control"), "no-store");
});

Deno.test("browsers are not told the operator's key to a node", () => {
  const of = (suiRpcUrl?: string) => browserNode({ suiNetwork: "testnet", suiRpcUrl });
  const open = NODES.testnet;
  assert.equal(of(), open);
  assert.equal(of("https://node.example.org:9000"), "https://node.example.org:9000");
  assert.equal(of("https://node.example.org/"), "https://node.example.org");
  assert.equal(of("https://node.example.org/v2/0123456789abcdef"), open);
  assert.equal(of("https://node.example.org/?key=0123456789abcdef"), open);
});
