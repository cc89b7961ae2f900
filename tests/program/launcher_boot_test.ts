import assert from "node:assert/strict";
import { mock } from "node:test";
import { SvcError } from "../../src/errors.ts";
import { chooseAddresses } from "../../src/program/launcher/addresses.ts";
import {
  parseRelayerBoot,
  parseSidecarBoot,
  relayerEnvironment,
  sidecarBoot,
} from "../../src/program/launcher/boot.ts";
import { childEnvironment } from "../../src/program/launcher/child_spec.ts";
import { readLeash } from "../../src/program/launcher/leash.ts";
import { readSettings } from "../../src/program/settings/mod.ts";
import { DEFAULT_SIDECAR_LIMITS } from "../../src/mcp/options.ts";

const KEY = "ab".repeat(32);

function input() {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const stream = new ReadableStream<Uint8Array>({ start: (c) => void (controller = c) });
  const encoder = new TextEncoder();
  return {
    stream,
    write: (text: string) => controller.enqueue(encoder.encode(text)),
    end: () => controller.close(),
    fail: () => controller.error(new Error("broken pipe")),
  };
}

Deno.test("the leash is one line, in any pieces, and then the end", async () => {
  for (const how of ["end", "fail"] as const) {
    const { stream, write, ...other } = input();
    write('{"a":');
    write('"é"}\nignored');
    const leash = await readLeash(stream);
    assert.equal(leash.line, '{"a":"é"}');
    let ended = false;
    const end = leash.ended.then(() => ended = true);
    write("more");
    await Promise.resolve();
    assert.equal(ended, false);
    other[how]();
    await end;
  }
});

Deno.test("input without a line, or with an endless one, is refused", async () => {
  const empty = input();
  empty.end();
  await assert.rejects(readLeash(empty.stream), SvcError);
  const endless = input();
  for (let i = 0; i < 3; i++) endless.write("x".repeat(1_000_000));
  await assert.rejects(readLeash(endless.stream), SvcError);
});

Deno.test("start lines of another shape are refused without being repeated", () => {
  const good = { env: { SVC_PORT: "1" }, relayerKey: KEY };
  assert.deepEqual(parseRelayerBoot(JSON.stringify(good)), good);
  for (
    const line of [
      "",
      "[]",
      `{"env":{},"relayerKey":"${KEY.slice(1)}"}`,
      `{"env":{"A":1},"relayerKey":"${KEY}"}`,
      `{"relayerKey":"${KEY}"}`,
      `${KEY}`,
    ]
  ) {
    assert.throws(() => parseRelayerBoot(line), (error) => {
      assert.ok(error instanceof SvcError);
      return !error.message.includes("ab") && error.cause === undefined;
    });
  }
  const withInternal = { ...good, internalUrl: "http://127.0.0.1:81" };
  assert.deepEqual(parseRelayerBoot(JSON.stringify(withInternal)), withInternal);
  for (const internalUrl of ["http://0.0.0.0:81", "http://127.0.0.1:81/x", "", 1, null]) {
    assert.throws(() => parseRelayerBoot(JSON.stringify({ ...good, internalUrl })), SvcError);
  }
});

Deno.test("a sidecar's start line holds what the settings say, or the defaults", () => {
  const url = "http://127.0.0.1:9000";
  const internalUrl = "http://127.0.0.1:81";
  const env = {
    MCP_MAX_TOTAL_SESSIONS: "7",
    MCP_MAX_SESSIONS_PER_IP: "6",
    MCP_MAX_NEW_SESSIONS_PER_IP_PER_MIN: "5",
    MCP_SESSION_IDLE_SECONDS: "4",
    SVC_MCP_KEEPALIVE_SECONDS: "3",
    SVC_COMPAT_ALIASES: "false",
    SVC_LOG_FORMAT: "json",
    SVC_MCP_FIXTURES: "/fixtures.ts",
    SVC_RELAYER_NAME: "relayer-1",
  };
  const token = "t".repeat(16);
  const boot = sidecarBoot(readSettings(env).settings, token, internalUrl);
  assert.deepEqual(parseSidecarBoot(JSON.stringify(boot)), boot);
  assert.deepEqual(boot, {
    url,
    token,
    relayerUrl: internalUrl,
    isInternal: true,
    limits: {
      sessions: 7,
      sessionsPerIp: 6,
      newSessionsPerIpPerMinute: 5,
      idleSeconds: 4,
      keepaliveSeconds: 3,
      aliases: false,
    },
    name: "relayer-1",
    webUrl: "http://localhost:5173",
    // No fixtures: not without SVC_TEST=1.
    logLevel: "info",
    logFormat: "json",
  });
  for (
    const [more, webUrl] of [
      [{ SVC_WEB_PORT: "0" }, undefined],
      [{ SVC_WEB_PORT: "0", SVC_WEB_URL: "https://app.example.org" }, "https://app.example.org"],
    ] as const
  ) {
    const { settings } = readSettings({ ...env, ...more });
    assert.equal(sidecarBoot(settings, token, internalUrl).webUrl, webUrl);
  }
  const least = { url, token, relayerUrl: internalUrl };
  const parsed = parseSidecarBoot(JSON.stringify(least));
  assert.deepEqual(parsed.limits, DEFAULT_SIDECAR_LIMITS);
  const { logLevel, logFormat, fixtures, isInternal } = parsed;
  assert.deepEqual([logLevel, logFormat, fixtures, isInternal], ["info", "text", undefined, true]);
  for (
    const wrong of [
      { token: "short" },
      { url: "x" },
      { relayerUrl: undefined },
      { limits: 1 },
      { limits: { sessions: 0 } },
      { limits: { idleSeconds: "4" } },
    ]
  ) {
    assert.throws(() => parseSidecarBoot(JSON.stringify({ ...least, ...wrong })), SvcError);
  }
});

Deno.test("addresses left to the system are free, loopback and different", () => {
  const fixed = { sidecarUrl: "http://[::1]:9000", port: 8000, webPort: 5173 };
  const { sidecarUrl, internalUrl } = chooseAddresses(fixed);
  assert.equal(sidecarUrl, fixed.sidecarUrl);
  assert.match(internalUrl, /^http:\/\/127\.0\.0\.1:\d+$/);
  for (let i = 0; i < 20; i++) {
    const chosen = chooseAddresses({ sidecarUrl: "http://127.0.0.1:0", port: 0, webPort: 0 });
    assert.match(chosen.sidecarUrl, /^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    assert.notEqual(chosen.sidecarUrl, chosen.internalUrl);
  }
});

Deno.test("no address is chosen that the settings give to something else", () => {
  const settings = { port: 20_000, webPort: 20_001, sidecarUrl: "http://127.0.0.1:20002" };
  const { random } = Math;
  let drawn = 0;
  // Those three come first, then whatever comes.
  mock.method(Math, "random", () => drawn < 3 ? drawn++ / 12_000 : random());
  try {
    const port = Number(new URL(chooseAddresses(settings).internalUrl).port);
    assert.equal(drawn, 3);
    assert.ok(![20_000, 20_001, 20_002].includes(port), `${port}`);
  } finally {
    mock.restoreAll();
  }
});

Deno.test("the relayer gets its settings, absolute paths, and nothing else", () => {
  const env = {
    HOME: "/home/ada",
    SVC_DATA_DIR: "data",
    SVC_VECTOR_STORE: "./store.ts",
    SVC_PORT: "81",
    PLUGIN_TOKEN: "t",
    AWS_SECRET: "no",
    SVC_UNKNOWN: "no",
  };
  const { settings } = readSettings(env, { cwd: "/cwd" });
  const kept = relayerEnvironment(env, settings, ["PLUGIN_TOKEN"]);
  assert.equal(kept["SVC_DATA_DIR"], "/cwd/data");
  assert.equal(kept["SVC_VECTOR_STORE"], "file:///cwd/store.ts");
  assert.equal(kept["PLUGIN_TOKEN"], "t");
  assert.ok(!Object.values(kept).includes("no"));
  const again = readSettings(kept);
  assert.deepEqual(again.problems, []);
  assert.equal(again.settings.dataDir, settings.dataDir);
  assert.equal(again.settings.keyFile, settings.keyFile);
  assert.equal(again.settings.port, 81);
});

Deno.test("a child's environment holds nothing of ours; loopback never goes through a proxy", () => {
  const env = { HOME: "/h", SVC_OPENAI_API_KEY: "k", HTTPS_PROXY: "http://p", NO_PROXY: "corp" };
  assert.deepEqual(childEnvironment(env, { command: "serve", proxies: false }), { HOME: "/h" });
  assert.deepEqual(childEnvironment(env, { command: "serve", proxies: true }), {
    HOME: "/h",
    HTTPS_PROXY: "http://p",
    NO_PROXY: "corp,127.0.0.0/8,localhost,::1",
  });
});

Deno.test("a child trusts the certificates that the program trusts", () => {
  // Without them it cannot fetch the packages of a plugin where the npm registry has such a one.
  const trusted = {
    DENO_CERT: "/a.pem",
    DENO_TLS_CA_STORE: "system",
    NODE_EXTRA_CA_CERTS: "/b.pem",
    SSL_CERT_FILE: "/c.pem",
  };
  assert.deepEqual(childEnvironment(trusted, { command: "serve", proxies: false }), trusted);
});

Deno.test("a child's environment says where spans go, if they are wanted", () => {
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=token",
    OTEL_TRACES_SAMPLER: "traceidratio",
    OTEL_BSP_SCHEDULE_DELAY: "100",
    OTEL_SECRET_OF_SOMEBODY: "s",
    SVC_OPENAI_API_KEY: "k",
  };
  assert.deepEqual(childEnvironment(env, { command: "serve", proxies: false }), {});
  const { OTEL_SECRET_OF_SOMEBODY: _, SVC_OPENAI_API_KEY: __, ...passed } = env;
  const on = { ...env, OTEL_DENO: "true" };
  assert.deepEqual(childEnvironment(on, { command: "serve", proxies: false }), {
    ...passed,
    OTEL_DENO: "true",
    OTEL_DENO_CONSOLE: "ignore",
    OTEL_SERVICE_NAME: "svc-relayer",
  });
  const { OTEL_SERVICE_NAME } = childEnvironment(on, { command: "sidecar", proxies: false });
  assert.equal(OTEL_SERVICE_NAME, "svc-sidecar");
  const named = { ...on, OTEL_SERVICE_NAME: "memory", OTEL_DENO_CONSOLE: "capture" };
  const kept = childEnvironment(named, { command: "sidecar", proxies: false });
  assert.equal(kept["OTEL_SERVICE_NAME"], "memory");
  assert.equal(kept["OTEL_DENO_CONSOLE"], "capture");
});
