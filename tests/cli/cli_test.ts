import assert from "node:assert/strict";
import { COMMANDS } from "../../cli/command_line.ts";
import { runCli } from "../../cli/mod.ts";
import { writeCredentials } from "../../src/client/credentials_file.ts";
import { makeDelegateKey } from "../../src/client/mod.ts";
import { SvcError } from "../../src/errors.ts";
import { verifies } from "../requirements.ts";
import { type Answer, fakeRelayer, type Received, refusal } from "../client/fake_relayer.ts";

const JOB = "11111111-2222-4333-8444-555555555555";
const ID = "0x" + "cd".repeat(32);
const RUNNING = { job_id: JOB, memory_id: JOB, namespace: "default", status: "running" };
/** Three days ago. */
const DAYS_AGO = new Date(Date.now() - 3 * 86_400_000 - 60_000).toISOString();
const HIT = {
  memory_id: JOB,
  blob_id: "",
  namespace: "default",
  created_at: DAYS_AGO,
  text: "I like tea",
  distance: 0.2,
  score: 0.8,
};
const ACCOUNT = {
  owner: ID,
  account_id: ID,
  active: true,
  key: { label: "Laptop", public_key: "", permissions: ["read", "write"] },
};
const json = (body: unknown): Answer => () => Response.json(body);
const health = json({ status: "ok", version: "0.1.0" });

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly received: readonly Received[];
}

interface Setting {
  readonly routes?: Record<string, Answer>;
  readonly env?: Record<string, string>;
  readonly stdin?: string;
  /** Whether there are no credentials. */
  readonly signedOut?: boolean;
  /** What the user calls the program. */
  readonly program?: string;
  /** Saved relayer; default: the fake one. */
  readonly saved?: string;
}

/** Runs a command against a fake relayer, with credentials made for it. */
async function run(args: string[], setting: Setting = {}): Promise<Run> {
  await using relayer = fakeRelayer(setting.routes ?? {});
  const home = await Deno.makeTempDir();
  try {
    const pair = await makeDelegateKey();
    if (!setting.signedOut) {
      await writeCredentials(`${home}/.svc/credentials.json`, {
        delegatePrivateKey: pair.privateKey,
        delegatePublicKeyHex: pair.publicKey,
        delegateAddress: pair.address,
        walletAddress: ID,
        accountId: ID,
        packageId: ID,
        relayerUrl: setting.saved ?? relayer.url,
        label: "Laptop",
        createdAt: "2026-01-01T00:00:00.000Z",
        version: 1,
      });
    }
    let out = "";
    let err = "";
    const code = await runCli(args.map((arg) => arg.replace("{relayer}", relayer.url)), {
      env: { HOME: home, ...setting.env },
      ...(setting.program === undefined ? {} : { program: setting.program }),
      ...(setting.stdin === undefined ? {} : { stdin: new Blob([setting.stdin]).stream() }),
      write: (text) => out += text,
      writeError: (text) => err += text,
      sleep: () => Promise.resolve(),
    });
    assert(!(out + err).includes(pair.privateKey));
    return {
      code,
      out: out.replaceAll(relayer.url, "{relayer}"),
      err: err.replaceAll(relayer.url, "{relayer}"),
      received: relayer.received,
    };
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

const REMEMBER = {
  "POST /api/remember": json({ ...RUNNING, recallable: false }),
  [`GET /api/remember/${JOB}`]:
    ((_, n) => Response.json({ ...RUNNING, recallable: n > 1 })) as Answer,
};

Deno.test("remember waits until recallable and prints the id", async () => {
  verifies("13.4-2");
  const { code, out, err, received } = await run(["remember", "I like tea", "--ns", "日本"], {
    routes: REMEMBER,
  });
  assert.deepEqual([code, out, err], [0, `Remembered in default. ${JOB}\n`, ""]);
  assert.deepEqual(JSON.parse(received[0]!.body), { text: "I like tea", namespace: "日本" });
  assert.equal(received.length, 4);
  assert(received.every(({ signed }) => signed));
});

Deno.test("remember says what was there already, and behind what a memory is kept", async () => {
  const twin = { ...RUNNING, recallable: true, deduplicated: true };
  const again = await run(["remember", "I like tea"], {
    routes: { "POST /api/remember": json(twin) },
  });
  assert.equal(again.out, `Already remembered in default. ${JOB}\n`);
  const folded = { memory_id: "m2", reason: "echo" };
  const routes = {
    ...REMEMBER,
    [`GET /api/remember/${JOB}`]: json({ ...RUNNING, recallable: true, folded }),
  };
  const { out } = await run(["remember", "You said you like tea"], { routes });
  const behind = "It says what another memory says; recall shows that one: m2\n";
  assert.equal(out, `Remembered in default. ${JOB}\n${behind}`);
  const data = await run(["remember", "You said you like tea", "--json"], { routes });
  assert.deepEqual(JSON.parse(data.out).folded, folded);
});

Deno.test("an address that redirects is no relayer that is not running", async () => {
  const location = "https://example.org/api/recall";
  const { code, err } = await run(["recall", "tea"], {
    routes: {
      "POST /api/recall": () => new Response(null, { status: 301, headers: { location } }),
    },
  });
  assert.deepEqual([code, err], [
    4,
    "The relayer at {relayer} redirects: give its final address\n",
  ]);
});

Deno.test("remember reads standard input, joins words, takes the namespace of the environment", async () => {
  const piped = await run(["remember", "-"], { routes: REMEMBER, stdin: "two\nlines ☕\n" });
  assert.equal(JSON.parse(piped.received[0]!.body).text, "two\nlines ☕");
  const words = await run(["remember", "I", "like", "tea"], {
    routes: REMEMBER,
    env: { SVC_NAMESPACE: "work" },
  });
  const body = JSON.parse(words.received[0]!.body);
  assert.deepEqual(body, { text: "I like tea", namespace: "work" });
  const dashed = await run(["remember", "--json", "--", "--5 degrees"], { routes: REMEMBER });
  assert.equal(JSON.parse(dashed.received[0]!.body).text, "--5 degrees");
  assert.deepEqual(JSON.parse(dashed.out), { ...RUNNING, recallable: true });
});

Deno.test("a refused secret is told with the next step, which --redact takes", async () => {
  verifies("13.4-2");
  const found = { kind: "aws_access_key", offset: 10, length: 20 };
  const body = { error: "text holds it", code: "secret_found", request_id: "r", ...found };
  const refused = await run(["remember", "anything"], {
    routes: { "POST /api/remember": () => Response.json(body, { status: 400 }) },
  });
  assert.deepEqual([refused.code, refused.err], [
    1,
    "Not saved: the text holds a secret (aws access key, 20 characters at 10). Say it without the " +
    "secret, or add --redact, which saves the rest. Whether secrets are taken is set by " +
    "SVC_SECRETS (code: secret_found)\n",
  ]);
  const redacted = [{ kind: "aws_access_key", count: 1 }];
  const saved = await run(["remember", "--redact", "anything"], {
    routes: { "POST /api/remember": json({ ...RUNNING, recallable: true, redacted }) },
  });
  assert.deepEqual([saved.code, saved.err], [0, "Left out: 1 × aws access key.\n"]);
  assert.deepEqual(JSON.parse(saved.received[0]!.body), { secrets: "redact", text: "anything" });
});

Deno.test("remember says that a language is found by words only, and --json as the relayer does", async () => {
  const routes = {
    "POST /api/remember": json({ ...RUNNING, recallable: true, unread_language: "de" }),
  };
  const saved = await run(["remember", "Ich mag Tee"], { routes });
  const said = "Found by words only: the relayer's embedder does not read German.\n" +
    "svc model get multilingual-e5-small fetches a model that reads about 100 languages; " +
    "SVC_EMBEDDER=onnx starts with it.\n";
  assert.deepEqual([saved.code, saved.err], [0, said]);
  const forMachines = await run(["remember", "Ich mag Tee", "--json"], { routes });
  assert.equal(forMachines.err, "");
  assert.equal(JSON.parse(forMachines.out).unread_language, "de");
  for (const unread_language of ["und", "\u001b[31m", "xx-"]) {
    const odd = await run(["remember", "tea"], {
      routes: {
        "POST /api/remember": json({ ...RUNNING, recallable: true, unread_language }),
      },
    });
    assert.match(odd.err, /does not read this language\.\n/);
  }
});

Deno.test("remember reports a failed job", async () => {
  const failed = { ...RUNNING, status: "failed", recallable: false, error_code: "quota_exceeded" };
  const bad = await run(["remember", "tea"], {
    routes: { ...REMEMBER, [`GET /api/remember/${JOB}`]: json(failed) },
  });
  assert.deepEqual([bad.code, bad.out], [1, ""]);
  assert.match(bad.err, /quota_exceeded/);
});

Deno.test("recall prints numbered lines, or that there are none", async () => {
  verifies("13.4-2", "13.4-5");
  const text = "\u001b[31mred\u0007\u009b\u202e\n3. [score=0.900] never said";
  const steering = { ...HIT, text, score: 0.12345 };
  const found = await run(["recall", "what", "do", "I", "drink?", "--limit", "3"], {
    routes: {
      "POST /api/recall": json({
        results: [HIT, steering],
        total: 2,
        pending: 1,
        dropped_count: 4,
      }),
    },
  });
  assert.equal(found.code, 0);
  const shown = "\\u{1b}[31mred\\u{7}\\u{9b}\\u{202e}↵3. [score=0.900] never said";
  assert.equal(
    found.out,
    `1. I like tea\n   3 days ago · fits 80 %\n2. ${shown}\n   3 days ago · fits 12 %\n`,
  );
  assert.match(found.err, /4 more could not be decrypted/);
  assert.match(found.err, /1 new memory is still being indexed/);
  assert.deepEqual(JSON.parse(found.received[0]!.body), { query: "what do I drink?", limit: 3 });
  const empty = { results: [], total: 0, message: "No matching memories found" };
  const none = await run(["recall", "x"], { routes: { "POST /api/recall": json(empty) } });
  assert.deepEqual([none.code, none.out], [0, "No matching memories found.\n"]);
  const machine = await run(["recall", "x", "--json"], {
    routes: { "POST /api/recall": json(empty) },
  });
  assert.deepEqual(JSON.parse(machine.out), empty);
});

Deno.test("recall and list name the key that wrote a memory, where it was another one", async () => {
  const written_by = `${"c".repeat(56)}3f6b21c0`;
  const others = { ...HIT, written_by, written_by_label: "Ada\u001b[2J" };
  const unknown = { ...HIT, written_by };
  const results = [others, unknown];
  const { out } = await run(["recall", "tea"], {
    routes: { "POST /api/recall": json({ results, total: 2 }) },
  });
  assert.match(out, /^ {3}3 days ago · fits 80 % · by Ada\\u\{1b\}\[2J …3f6b21c0$/m);
  assert.match(out, /^ {3}3 days ago · fits 80 % · by key …3f6b21c0$/m);
  const listed = await run(["list"], {
    routes: { "GET /api/memories": json({ memories: [unknown, HIT], total: 2 }) },
  });
  assert.deepEqual(listed.out.split("\n").map((line) => line.slice(HIT.memory_id.length)), [
    "  3 days ago  key …3f6b21c0  I like tea",
    `  3 days ago  ${" ".repeat("key …3f6b21c0".length)}  I like tea`,
    "",
  ]);
});

Deno.test("recall says that nothing is close enough and shows the nearest; --all shows every hit", async () => {
  const hits = [0.069, 0.02, 0.01].map((confidence) => ({ ...HIT, confidence }));
  const recall = (flags: string[], results: object[] = hits) => {
    const routes = { "POST /api/recall": json({ results, total: results.length }) };
    return run(["recall", "x", ...flags], { routes });
  };
  const none = await recall([]);
  const near = `- I like tea\n  3 days ago · ${HIT.memory_id}\n`;
  assert.equal(none.out, `Nothing close enough; the nearest are:\n\n${near}${near}`);
  const machine = JSON.parse((await recall(["--json"])).out);
  assert.deepEqual([machine.results, machine.total, machine.nearest.length], [[], 0, 2]);
  assert.equal(machine.message, "Nothing close enough");
  assert.match((await recall(["--all"])).out, /^1\. .*^2\. .*^3\. /ms);
  assert.equal(JSON.parse((await recall(["--all", "--json"])).out).total, 3);
  assert.match((await recall([], [{ ...HIT, confidence: 0.07 }])).out, /^1\. I like tea/);
});

Deno.test("namespaces, list and forget", async () => {
  verifies("13.4-2");
  const spaces = await run(["namespaces"], {
    routes: {
      "GET /api/namespaces": (_, n) =>
        Response.json({
          namespaces: [{
            namespace: `n${n}`,
            memory_count: n + 1,
            storage_bytes: 300,
            last_write_at: DAYS_AGO,
          }],
          ...(n === 0 ? { next_cursor: "c" } : {}),
        }),
    },
  });
  assert.equal(
    spaces.out,
    "n0  1 memory    300 bytes  written 3 days ago\n" +
      "n1  2 memories  300 bytes  written 3 days ago\n",
  );
  const listed = await run(["list", "--limit", "1", "--ns", "日本"], {
    routes: { "GET /api/memories": json({ memories: [HIT, HIT], next_cursor: "c" }) },
  });
  assert.equal(listed.out, `${JOB}  3 days ago  I like tea\n`);
  assert.equal(listed.received[0]?.target, "/api/memories?limit=1&namespace=%E6%97%A5%E6%9C%AC");
  const { text: _, ...bare } = HIT;
  const memories = [{ ...bare, text_error: "storage_unavailable" }, { ...bare, source: "manual" }];
  const closed = await run(["list"], { routes: { "GET /api/memories": json({ memories }) } });
  assert.match(
    closed.out,
    /\(not readable: storage_unavailable\)\n.*\(encrypted by the app .*\)\n$/,
  );
  const routes = { "POST /api/forget": json({ deleted: 3, namespace: "old", owner: ID }) };
  const asked = await run(["forget", "old"], { routes });
  assert.deepEqual([asked.code, asked.received.length], [2, 0]);
  assert.match(asked.err, /--yes/);
  const gone = await run(["forget", "old", "--yes"], { routes });
  assert.deepEqual([gone.code, gone.out], [0, 'Deleted 3 memories of "old".\n']);
  // A key that may only write is told no number.
  const uncounted = await run(["forget", "old", "--yes"], {
    routes: { "POST /api/forget": json({ namespace: "old", owner: ID }) },
  });
  assert.deepEqual([uncounted.code, uncounted.out], [0, 'Deleted the memories of "old".\n']);
});

Deno.test("status shows account, key label, relayer and reachability", async () => {
  verifies("13.4-1", "13.4-5");
  const routes = { "GET /health": health, "GET /api/account": json(ACCOUNT) };
  const good = await run(["status"], { routes });
  assert.equal(good.code, 0);
  assert.match(good.out, new RegExp(`Account: {2}${ID} \\(active\\)`));
  assert.match(good.out, /Key: {6}Laptop \(…[0-9a-f]{8}\)\n/);
  assert.match(
    good.out,
    /Relayer: {2}\{relayer\} \(ok\)\nNext: {5}svc-mcp remember "I am allergic to peanuts"\n$/,
  );
  const page = { namespaces: [{ namespace: "a", memory_count: 1 }], total: 1 };
  const full = await run(["status"], { routes: { ...routes, "GET /api/namespaces": json(page) } });
  assert.match(full.out, /\nNext: {5}svc-mcp recall .*svc-mcp open for the dashboard\n$/);
  const machine = JSON.parse((await run(["status", "--json"], { routes })).out);
  assert.deepEqual(
    [machine.reachable, machine.signed_in, machine.accepted, machine.key_label],
    [true, true, true, "Laptop"],
  );
  const unread = { ...ACCOUNT, unread_languages: ["de", "es", "\u001b[31m", "und"] };
  const foreign = { ...routes, "GET /api/account": json(unread) };
  const hinted = await run(["status"], { routes: foreign });
  assert.match(
    hinted.out,
    /Reading: {2}Found by words only: .* does not read German, Spanish, and other languages\.\n {10}svc model get /,
  );
  const told = JSON.parse((await run(["status", "--json"], { routes: foreign })).out);
  assert.deepEqual(told.unread_languages.slice(0, 2), ["de", "es"]);
  for (const unread_languages of [[], "de", [1], undefined]) {
    const odd = { ...routes, "GET /api/account": json({ ...ACCOUNT, unread_languages }) };
    assert.doesNotMatch((await run(["status"], { routes: odd })).out, /Reading/);
  }
  const out = await run(["status", "--relayer", "{relayer}"], { routes, signedOut: true });
  assert.equal(out.code, 3);
  assert.match(
    out.out,
    /not signed in.*login\nRelayer: {2}\{relayer\} \(ok\)\nNext: {5}svc-mcp login\n/,
  );
  const rejected = await run(["status"], {
    routes: {
      "GET /health": health,
      "GET /api/account": () => refusal(new SvcError("account_not_authorized")),
    },
  });
  assert.equal(rejected.code, 3);
  assert.match(rejected.out, /rejected by this relayer \(code: account_not_authorized\)/);
  const away = await run(["status", "--relayer", "http://127.0.0.1:1"]);
  assert.equal(away.code, 4);
  assert.match(
    away.out,
    /Relayer: {2}http:\/\/127\.0\.0\.1:1 \(cannot be reached.*\)\nNext: {5}start the relayer/,
  );
});

Deno.test("activity in columns: who, what, where, from where, how often", async () => {
  verifies("13.4-2");
  const at = new Date(Date.now() - 3 * 3_600_000).toISOString();
  const entry = (members: object) => ({
    key: ACCOUNT.key.public_key,
    action: "POST /api/recall",
    via: "mcp",
    from: "this_machine",
    outcome: "ok",
    count: 1,
    first_at: at,
    last_at: at,
    ...members,
  });
  const pages = [
    [
      entry({ namespace: "a\u001b[1mb", count: 12 }),
      entry({ key: "owner", action: "add_key", via: "http" }),
    ],
    [entry({ key: "c".repeat(64), action: "POST /api/new", via: "http", from: "unknown" })],
    [entry({ action: "POST /api/forget", outcome: "permission_denied", via: "http" })],
  ];
  const routes: Record<string, Answer> = {
    "GET /api/account/keys": json({ keys: [ACCOUNT.key] }),
    "GET /api/account/activity": (_, n) =>
      Response.json({ entries: pages[n], ...(n < 2 ? { next_cursor: `c${n}` } : {}) }),
  };
  const { out, received } = await run(["activity", "--limit", "600"], { routes });
  const { label } = ACCOUNT.key;
  const removed = "removed key …cccccccc";
  const who = (name: string) => name.padEnd(removed.length);
  assert.deepEqual(out.split("\n"), [
    `3 hours ago  ${who(label)}  searched             in a\\u{1b}[1mb  MCP, this machine  12 times`,
    `3 hours ago  ${who("the wallet")}  added a key                          this machine`,
    `3 hours ago  ${removed}  POST /api/new                        an unknown place`,
    `3 hours ago  ${
      who(label)
    }  deleted a namespace                  this machine                 permission_denied`,
    "",
  ]);
  const targets = received.map(({ target }) => target).filter((target) => /activity/.test(target));
  assert.deepEqual(targets, [
    "/api/account/activity?limit=500",
    "/api/account/activity?limit=500&cursor=c0",
    "/api/account/activity?limit=500&cursor=c1",
  ]);
  const laptop = { ...ACCOUNT.key, public_key: "a4".repeat(32) };
  const one = {
    "GET /api/account/keys": json({
      keys: [laptop, { ...laptop, public_key: "b5".repeat(32), label: "token: Phone" }],
    }),
    "GET /api/account/activity": json({ entries: [] }),
  };
  const phone = "b5".repeat(32);
  for (
    const [key, wanted] of [
      [label, laptop.public_key],
      ["…a4a4a4a4", laptop.public_key],
      [laptop.public_key, laptop.public_key],
      ["owner", "owner"],
      ["Phone", phone],
      ["token: Phone", phone],
    ] as const
  ) {
    const asked = await run(["activity", "--key", key], { routes: one });
    assert.equal(asked.received.at(-1)?.target, `/api/account/activity?limit=50&key=${wanted}`);
  }
  const nobody = await run(["activity", "--key", "Phone"], { routes });
  assert.equal(nobody.code, 2);
  assert.match(nobody.err, /^No key has that label or end/);
});

Deno.test("no text of somebody else fakes a line or steers the terminal", async () => {
  verifies("13.4-7");
  const evil = "a\r\nb\u2028c\u0085d\u001b]0;e\u0007\u202ef\u200b";
  const shown = "a↵b↵c↵d\\u{1b}]0;e\\u{7}\\u{202e}f\\u{200b}";
  const listed = { memories: [{ ...HIT, text: evil }] };
  const page = {
    namespaces: [{ namespace: evil, memory_count: 1, storage_bytes: 2, last_write_at: DAYS_AGO }],
  };
  const account = { ...ACCOUNT, owner: evil, key: { ...ACCOUNT.key, label: evil } };
  const routes = {
    "GET /api/memories": json(listed),
    "GET /api/namespaces": json(page),
    "GET /health": json({ status: evil, version: "0.1.0" }),
    "GET /api/account": json(account),
    "POST /api/recall": () => Response.json({ error: evil, code: "not_found" }, { status: 404 }),
  };
  for (
    const [args, lines, data] of [
      [["list"], [`${JOB}  3 days ago  ${shown}`], listed],
      [["namespaces"], [`${shown}  1 memory  2 bytes  written 3 days ago`], { ...page, total: 1 }],
    ] as const
  ) {
    assert.deepEqual((await run([...args], { routes })).out.split("\n"), [...lines, ""]);
    const machine = await run([...args, "--json"], { routes });
    assert.deepEqual(JSON.parse(machine.out), data);
  }
  const { out } = await run(["status"], { routes });
  const lines = out.split("\n");
  assert.equal(lines.length, 6, out);
  assert.equal(lines[1], `Owner:    ${shown}`);
  assert.ok(lines[2]?.startsWith(`Key:      ${shown} (…`), out);
  assert.ok(lines[3]?.endsWith(` (${shown})`), out);
  const refused = await run(["recall", "x"], { routes });
  assert.equal(refused.err, `${shown} (code: not_found)\n`);
});

Deno.test("exit codes of refusals", async () => {
  verifies("13.4-6");
  const cases: [Answer, number, RegExp][] = [
    [
      () => refusal(new SvcError("account_not_authorized")),
      3,
      /rejected your key[^]*svc-mcp login/,
    ],
    [() => refusal(new SvcError("permission_denied")), 3, /permission_denied/],
    [() => refusal(new SvcError("quota_exceeded")), 1, /quota_exceeded/],
    [() => new Response("<html>", { status: 500 }), 1, /not one of this service/],
  ];
  for (const [answer, expected, message] of cases) {
    const { code, out, err } = await run(["recall", "x"], {
      routes: { "POST /api/recall": answer },
    });
    assert.deepEqual([code, out], [expected, ""]);
    assert.match(err, message);
  }
  const away = await run(["recall", "x", "--json"], { saved: "http://127.0.0.1:1" });
  assert.equal(away.code, 4);
  assert.match(JSON.parse(away.err).error, /http:\/\/127\.0\.0\.1:1 cannot be reached/);
  const out = await run(["recall", "x"], { signedOut: true });
  assert.equal(out.code, 3);
  assert.match(out.err, /not signed in/);
});

Deno.test("the relayer: flag, environment, saved value; another than the saved one is said", async () => {
  const routes = { "POST /api/recall": json({ results: [], total: 0 }) };
  const saved = "http://localhost:9";
  const byFlag = await run(["recall", "x", "--relayer", "{relayer}"], {
    routes,
    saved,
    env: { SVC_SERVER_URL: "http://127.0.0.1:1" },
  });
  assert.equal(byFlag.code, 0);
  assert.match(byFlag.err, /Using \{relayer\}, not http:\/\/localhost:9/);
  const bySaved = await run(["recall", "x"], { routes });
  assert.deepEqual([bySaved.code, bySaved.err], [0, ""]);
  const byEnv = await run(["status"], { env: { SVC_SERVER_URL: "http://127.0.0.1:1/" } });
  assert.match(byEnv.out, /Relayer: {2}http:\/\/127\.0\.0\.1:1 /);
  const invalid = await run(["status"], { env: { SVC_SERVER_URL: "nonsense" } });
  assert.equal(invalid.code, 2);
});

Deno.test("usage errors exit 2 with a suggestion and send nothing", async () => {
  verifies("13.4-6");
  const cases: [string[], RegExp][] = [
    [[], /Usage: svc-mcp \[command\]/],
    [["help"], /Unknown command "help"\. See: svc-mcp --help/],
    [["remembr", "x"], /Unknown command "remembr"\. Did you mean "remember"\?/],
    [["status", "--limit", "3"], /--limit is not a flag of status/],
    [["status", "please"], /takes no words/],
    [["recall"], /needs a query/],
    [["recall", "x", "--limit"], /--limit has no value/],
    [["recall", "x", "--limit", "many"], /--limit must be a number/],
    [["recall", "x", "--limit=0"], /--limit must be a number/],
    [["recall", "x", "--json=yes"], /--json has no value, or one it does not take/],
    [["recall", "x", "--relayer", "ftp://x"], /--relayer must be/],
    [["remember", "-"], /text is empty/],
    [["forget", "--yes"], /needs the id of a memory, or --namespace <name>/],
    [["forget", "x", "--yes", "--dry-run"], /Unknown flag --dry-run: nothing is deleted/],
  ];
  for (const [args, message] of cases) {
    const { code, out, err, received } = await run(args);
    assert.deepEqual([code, out, received.length], [2, "", 0], args.join(" "));
    assert.match(err, message);
  }
});

Deno.test("an unknown flag of a command is reported and ignored", async () => {
  verifies("13.1-2");
  const routes = {
    "POST /api/recall": json({ results: [HIT], total: 1 }),
    "GET /health": health,
    "GET /api/account": json(ACCOUNT),
  };
  const cases: [string[], RegExp][] = [
    [["recall", "x", "--limt=3"], /--limt is unknown and ignored\. Did you mean "--limit"\?/],
    [["--jsn", "status"], /--jsn is unknown and ignored\. Did you mean "--json"\?/],
    [["recall", "x", "-q"], /^Note: The flag -q is unknown and ignored\.\n$/],
    [["logout", "--colour", "--shape"], /--colour is unknown.*\n.*--shape is unknown/],
  ];
  for (const [args, message] of cases) {
    const { code, out, err } = await run(args, { routes });
    assert.equal(code, 0, err);
    assert.notEqual(out, "");
    assert.match(err, message);
  }
  const { received } = await run(["recall", "--colour", "tea"], { routes });
  assert.equal(JSON.parse(received[0]!.body).query, "tea");
});

Deno.test("an address that is not valid does not keep anybody signed in", async () => {
  verifies("13.2-1");
  const { code, out, err } = await run(["logout"], { env: { SVC_SERVER_URL: "nonsense" } });
  assert.equal(code, 0);
  assert.match(out, /^Signed out\./);
  assert.match(err, /Warning: SVC_SERVER_URL must be/);
});

Deno.test("help is short and exits 0", async () => {
  verifies("13.4-6");
  const all = Object.keys(COMMANDS).map((command) => [command, "-h"]);
  for (const args of [["--help"], ["-h"], ["install", "--help"], ...all]) {
    const { code, out, err } = await run(args, { signedOut: true });
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, /^Usage: svc-mcp/);
    assert.match(out, /Example/);
    assert.deepEqual(out.split("\n").filter((line) => line.length > 80), []);
  }
});

Deno.test("help and hints name the program that was called", async () => {
  const program = "svc";
  const help = await run(["recall", "--help"], { program });
  assert.match(help.out, /^Usage: svc recall <query>/);
  assert.match(help.out, /^ {2}svc recall "what can I not eat\?"$/m);
  const { err } = await run(["list"], { program, signedOut: true });
  assert.match(err, /Run: svc login\n$/);
  // What the user named keeps its name.
  const asked = await run(["forget", "svc-mcp"], { program });
  assert.match(asked.err, /every memory of "svc-mcp"/);
  const unknown = await run(["nothing"], { program });
  assert.match(unknown.err, /See: svc --help\n$/);
});
