import assert from "node:assert/strict";
import { cutLabel, resolveSettings, type Settings } from "../../cli/settings.ts";
import { verifies } from "../requirements.ts";

const LOCAL = { relayer: "http://127.0.0.1:8000", webUrl: "http://localhost:5173" };
const SAVED = { relayerUrl: "https://saved.example", webUrl: "https://web.saved.example" };

/** One line of the table: arguments, environment, saved addresses, and what must come of it. */
type Row = readonly [
  args: string,
  env: Readonly<Record<string, string>>,
  saved: { relayerUrl: string; webUrl?: string } | undefined,
  wanted: { readonly [K in keyof Settings]?: Settings[K] | undefined },
];

function check(rows: readonly Row[]): void {
  for (const [args, env, saved, wanted] of rows) {
    const got = resolveSettings({ args: args === "" ? [] : args.split(" "), env, saved });
    for (const [key, value] of Object.entries(wanted)) {
      const what = `${args || "(none)"} ${JSON.stringify(env)}: ${key}`;
      assert.deepEqual(Reflect.get(got, key), value, what);
    }
  }
}

Deno.test("flags beat the environment, in both spellings and under both names", () => {
  verifies("13.1-1");
  const env = {
    SVC_SERVER_URL: "https://env.example",
    SVC_WEB_URL: "https://web.env.example",
    SVC_CLIENT_LABEL: "env label",
    SVC_NAMESPACE: "env-ns",
    SVC_MCP_TRANSPORT: "sse",
    SVC_NO_BROWSER: "1",
  };
  check([
    ["", {}, undefined, {
      ...LOCAL,
      label: undefined,
      namespace: undefined,
      transport: "auto",
      browser: true,
      debug: false,
      help: false,
      login: false,
      logout: false,
      command: undefined,
      words: [],
      notices: [],
      unknownFlags: [],
      problems: [],
    }],
    ["", env, undefined, {
      relayer: "https://env.example",
      webUrl: "https://web.env.example",
      label: "env label",
      namespace: "env-ns",
      transport: "sse",
      browser: false,
    }],
    ["--relayer https://flag.example/", env, undefined, { relayer: "https://flag.example" }],
    ["--relayer=https://flag.example", env, undefined, { relayer: "https://flag.example" }],
    ["--relayer-url https://flag.example", env, undefined, { relayer: "https://flag.example" }],
    ["--web-url https://web.example", env, undefined, { webUrl: "https://web.example" }],
    ["--web=https://web.example", env, undefined, { webUrl: "https://web.example" }],
    ["--label laptop", env, undefined, { label: "laptop" }],
    ["--namespace work", env, undefined, { namespace: "work" }],
    ["--ns=work", env, undefined, { namespace: "work" }],
    ["--ns=a --namespace b", {}, undefined, { namespace: "b" }],
    ["--transport http", env, undefined, { transport: "http" }],
    ["--transport=auto", env, undefined, { transport: "auto" }],
    ["--no-browser", {}, undefined, { browser: false }],
    ["", { SVC_NO_BROWSER: "0" }, undefined, { browser: true }],
    ["", { SVC_MCP_DEBUG: "1" }, undefined, { debug: true }],
    ["--login", {}, undefined, { login: true, command: undefined }],
    ["login", {}, undefined, { login: true, command: "login" }],
    ["--logout", {}, undefined, { logout: true, command: undefined }],
    ["logout", {}, undefined, { logout: true, command: "logout" }],
    ["--help", {}, undefined, { help: true }],
    ["-h", {}, undefined, { help: true }],
    ["--ns work recall what tea", {}, undefined, {
      namespace: "work",
      command: "recall",
      words: ["what", "tea"],
    }],
    ["remember -", {}, undefined, { command: "remember", words: ["-"] }],
    ["remember -- --help", {}, undefined, { command: "remember", words: ["--help"], help: false }],
    ["--ns=", { SVC_NAMESPACE: "env" }, undefined, { namespace: "env" }],
  ]);
});

Deno.test("unknown flags are reported and ignored", () => {
  verifies("13.1-2");
  check([
    ["--colour --ns work", {}, undefined, { unknownFlags: ["--colour"], namespace: "work" }],
    ["--secret=abc", {}, undefined, { unknownFlags: ["--secret"], words: [] }],
    ["-x", {}, undefined, { unknownFlags: ["-x"] }],
    ["--h -help", {}, undefined, { unknownFlags: ["--h", "-help"], help: false }],
    ["--constructor --__proto__=x", {}, undefined, {
      unknownFlags: ["--constructor", "--__proto__"],
    }],
  ]);
  const known = resolveSettings({
    args: ["--limit", "5", "recall", "tea", "--json"],
    env: {},
    further: { limit: "text", json: "switch" },
  });
  assert.deepEqual([known.command, known.words, known.unknownFlags], ["recall", ["tea"], []]);
});

Deno.test("presets set both addresses, explicit ones override in any order", () => {
  verifies("13.1-3");
  const hosted = ["prod", "dev", "staging"].map((name): Row => [
    `--${name}`,
    {},
    SAVED,
    { ...LOCAL },
  ]);
  check([
    ...hosted,
    ["--local", {}, SAVED, LOCAL],
    ["--local --relayer https://a.example", {}, undefined, {
      relayer: "https://a.example",
      webUrl: LOCAL.webUrl,
    }],
    ["--relayer https://a.example --local", {}, undefined, {
      relayer: "https://a.example",
      webUrl: LOCAL.webUrl,
    }],
    ["--web https://w.example --local", {}, undefined, {
      relayer: LOCAL.relayer,
      webUrl: "https://w.example",
    }],
    ["--relayer https://a.example", {}, undefined, {
      relayer: "https://a.example",
      webUrl: LOCAL.webUrl,
    }],
  ]);
  const { notices } = resolveSettings({ args: ["--dev", "--prod"], env: {} });
  assert.deepEqual(notices, [
    "Several presets are named; --prod counts.",
    "This build knows no hosted service; --prod stands for --local.",
  ]);
});

Deno.test("addresses: flag, preset, environment, saved, default", () => {
  verifies("13.1-4");
  const env = { SVC_SERVER_URL: "https://env.example", SVC_WEB_URL: "https://web.env.example" };
  const flags = "--relayer https://flag.example --web-url https://web.flag.example";
  check([
    [`${flags} --local`, env, SAVED, {
      relayer: "https://flag.example",
      webUrl: "https://web.flag.example",
    }],
    ["--local", env, SAVED, LOCAL],
    ["", env, SAVED, { relayer: env.SVC_SERVER_URL, webUrl: env.SVC_WEB_URL }],
    ["", { SVC_SERVER_URL: "", SVC_WEB_URL: "" }, SAVED, {
      relayer: SAVED.relayerUrl,
      webUrl: SAVED.webUrl,
    }],
    ["", {}, SAVED, { relayer: SAVED.relayerUrl, webUrl: SAVED.webUrl }],
    ["", {}, { relayerUrl: "https://saved.example" }, {
      relayer: "https://saved.example",
      webUrl: LOCAL.webUrl,
    }],
    ["", {}, undefined, LOCAL],
  ]);
});

Deno.test("another relayer than the saved one, and plain http, are announced", () => {
  verifies("13.1-5", "13.1-6");
  const other = resolveSettings({
    args: ["--relayer", "https://other.example"],
    env: {},
    saved: SAVED,
  });
  assert.equal(other.notices.length, 1);
  assert.match(
    other.notices[0]!,
    /^Using https:\/\/other\.example, not https:\/\/saved\.example .*your key stays here\.$/,
  );
  assert.ok(other.isForeign);
  const allowed = resolveSettings({
    args: ["--relayer", "https://other.example", "--send-key"],
    env: {},
    saved: SAVED,
  });
  assert.match(allowed.notices[0]!, /it may have your key\.$/);
  assert.ok(!allowed.isForeign);
  // What runs on the relayer's own host has seen the key.
  const path = `${SAVED.relayerUrl}/other`;
  assert.ok(!resolveSettings({ args: ["--relayer", path], env: {}, saved: SAVED }).isForeign);
  const quiet: Row[] = ["http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1", "https://a.b"]
    .map((url) => [`--relayer ${url}`, {}, undefined, { notices: [] }]);
  check([...quiet, ["", {}, { ...SAVED, relayerUrl: "https://saved.example/" }, { notices: [] }]]);
  const plain = resolveSettings({
    args: ["--relayer", "http://svc.lan:8000", "--web", "http://web.lan"],
    env: {},
  });
  assert.match(plain.notices[0]!, /relayer http:\/\/svc\.lan:8000 is plain http/);
  assert.match(plain.notices[1]!, /dashboard http:\/\/web\.lan is plain http/);
});

Deno.test("values that break their rule are named, never quoted, and not used", () => {
  const settings = resolveSettings({
    args: ["--relayer", "ftp://user:hunter2@x", "--transport=udp", "--ns", "--login", "--local=1"],
    env: { SVC_SERVER_URL: "https://env.example", SVC_MCP_TRANSPORT: "tcp" },
  });
  assert.equal(settings.relayer, "https://env.example");
  assert.equal(settings.transport, "auto");
  assert.equal(settings.login, true);
  assert.deepEqual(
    settings.problems.map(({ name }) => name),
    ["--ns", "--local", "--relayer", "--transport", "SVC_MCP_TRANSPORT"],
  );
  assert.ok(!JSON.stringify(settings).includes("hunter2"));
});

Deno.test("names of keys are cut at 64 bytes, between characters", () => {
  assert.equal(cutLabel("  Claude\n Desktop\u001b[31m "), "Claude Desktop[31m");
  assert.equal(cutLabel("é".repeat(40)), "é".repeat(32));
  assert.equal(cutLabel("x" + "😀".repeat(20)), "x" + "😀".repeat(15));
});
