import assert from "node:assert/strict";
import { local } from "../../plugins/local/mod.ts";
import { writeCredentials } from "../../src/client/credentials_file.ts";
import { credentialsOf } from "../../src/client/credentials.ts";
import { makeDelegateKey } from "../../src/client/mod.ts";
import { runAccount } from "../../src/program/commands/account.ts";
import { UsageError } from "../../src/program/commands/io.ts";
import { runToken } from "../../src/program/commands/token.ts";
import { parseTokenOptions } from "../../src/program/commands/token_options.ts";
import { createRelayer } from "../../src/relayer.ts";
import { memoryEmbedder } from "../../plugins/memory/embedder.ts";
import { readSessionToken } from "../../src/wire/session_token.ts";
import { listening } from "../listening.ts";
import { inHome } from "../program.ts";
import "../checked_relayers.ts";

/** A relayer of a home folder, and the commands of its machine. */
async function withRelayer(
  act: (
    run: (...args: string[]) => Promise<{ code: number; output: string; errors: string }>,
    asked: (token: string) => Promise<Response>,
    home: string,
    url: string,
  ) => Promise<void>,
): Promise<void> {
  await inHome(async (home) => {
    await Deno.mkdir(`${home}/.svc`, { mode: 0o700, recursive: true });
    await using relayer = await createRelayer({
      dataDir: `${home}/.svc/relayer`,
      relayerKey: new Uint8Array(32).fill(7),
      backends: [local(), { embedder: () => memoryEmbedder() }],
    });
    await using listener = listening(relayer.fetch);
    relayer.listensAt(listener.url);
    const env = { HOME: home, SVC_PORT: String(listener.port) };
    const command = (runs: typeof runToken) => async (...args: string[]) => {
      const [output, errors]: [string[], string[]] = [[], []];
      const code = await runs(args, {
        env,
        cwd: home,
        write: (text) => output.push(text),
        writeError: (text) => errors.push(text),
      });
      return { code, output: output.join(""), errors: errors.join("") };
    };
    const asked = (token: string) =>
      relayer.fetchInternal(
        new Request("http://127.0.0.1:9/api/account", {
          headers: { "x-svc-session-token": token },
        }),
        { isProven: true },
      );
    await command(runAccount)("create");
    await act(command(runToken), asked, home, listener.url);
  });
}

Deno.test("a token of a key of its own is made, listed and revoked", async () => {
  await withRelayer(async (run, asked, _home, url) => {
    assert.match((await run("list")).output, /no tokens/);
    const made = await run(
      ...["create", "--json", "--label", "Home", "--read-only"],
      ...["--expires", "30d", "--namespace", "work"],
    );
    assert.equal(made.code, 0, made.errors);
    const answer = JSON.parse(made.output);
    assert.equal(answer.mcp_url, `${url}/api/mcp`);
    assert.equal(answer.label, "token: Home");
    const days = (Date.parse(answer.expires_at) - Date.now()) / 86_400_000;
    assert.ok(days > 29.9 && days <= 30, `${days}`);
    assert.equal(readSessionToken(answer.token)?.publicKey, answer.public_key);
    const { key, token } = await (await asked(answer.token)).json();
    assert.deepEqual([key.label, key.permissions], ["token: Home", ["read"]]);
    assert.equal(token.namespace, "work");

    const bound = await run("create", "--label", "Notes", "--only", "notes/", "--only", "a,b");
    assert.match(bound.output, /only {9}notes\/, a,b\n/);
    const notes = await asked(/^(svct1\.\S+)$/m.exec(bound.output)![1]!);
    assert.deepEqual((await notes.json()).key.namespaces, ["notes/", "a,b"]);
    assert.match((await run("list")).output, /Notes \(read, write, only notes\/, a,b, until /);
    await run("revoke", "Notes");
    const none = await run("create", "--only", "");
    assert.match(none.errors, /namespaces must be 1 to 32 namespaces/);

    const shown = await run("create");
    assert.match(shown.output, /permissions {2}read, write\n/);
    const other = /^(svct1\.\S+)$/m.exec(shown.output)![1]!;
    const list = await run("list");
    assert.equal(list.output.split("\n").length, 3);
    assert.match(list.output, /…[0-9a-f]{8} {2}Home \(read, until /);

    for (const wrong of ["nobody", answer.public_key.slice(-5), ""]) {
      const { code, errors } = await run("revoke", wrong);
      assert.deepEqual([code, /not_found/.test(errors)], [1, true], wrong);
    }
    assert.equal((await asked(answer.token)).status, 200);
    assert.match((await run("revoke", "Home")).output, /revoked: Home/);
    const end = readSessionToken(other)!.publicKey.slice(-8).toUpperCase();
    assert.match((await run("revoke", end)).output, /revoked: app/);
    assert.match((await run("list")).output, /no tokens/);
  });
});

Deno.test("a token that the relayer does not make leaves no key behind", async () => {
  await inHome(async (home) => {
    const env = { HOME: home, SVC_PORT: "9" };
    const write = () => {};
    await runAccount(["create"], { env, cwd: home, write, writeError: write });
    const errors: string[] = [];
    const io = { env, cwd: home, write, writeError: (text: string) => errors.push(text) };
    assert.equal(await runToken(["create"], io), 1);
    const output: string[] = [];
    await runToken(["list", "--json"], { ...io, write: (text) => output.push(text) });
    assert.deepEqual(JSON.parse(output.join("")), { tokens: [] });
  });
});

Deno.test("where no relayer is, the token is of the saved key", async () => {
  await withRelayer(async (run, asked, home, url) => {
    const list = JSON.parse((await run("create", "--json")).output);
    await inHome(async (other) => {
      const path = `${other}/.svc/credentials.json`;
      const pair = await makeDelegateKey();
      const id = list.account_id;
      const given = { walletAddress: id, accountId: id, packageId: id, label: "Laptop" };
      const addresses = { relayerUrl: url, webUrl: "http://localhost:5173" };
      const createdAt = new Date().toISOString();
      await writeCredentials(path, credentialsOf(pair, { ...given, ...addresses, createdAt }));
      const env = { HOME: home };
      const silent = () => {};
      const io = { env, cwd: home, write: silent, writeError: silent };
      await runAccount(["add-key", "--public-key", pair.publicKey], io);
      const output: string[] = [];
      const there = { env: { HOME: other }, cwd: other, writeError: silent };
      const code = await runToken(["create", "--read-only"], {
        ...there,
        write: (text) => output.push(text),
      });
      assert.equal(code, 0);
      const text = output.join("");
      assert.match(text, /stands for the key of this computer/);
      const token = /^(svct1\.\S+)$/m.exec(text)![1]!;
      const { key } = await (await asked(token)).json();
      assert.deepEqual([key.public_key, key.permissions], [pair.publicKey, ["read"]]);
    });
  });
});

Deno.test("a token's options are checked", () => {
  const invalid = { name: "SvcError", code: "invalid_parameter" };
  for (
    const args of [
      ["create", "--expires", "59s"],
      ["create", "--expires", "367d"],
      ["create", "--expires", "soon"],
      ["create", "--permissions", "all"],
      ["create", "--label", "x".repeat(58)],
      ["list", "--account", "0x1"],
    ]
  ) assert.throws(() => parseTokenOptions(args), invalid, args.join(" "));
  for (
    const args of [
      ["make"],
      ["create", "more"],
      ["revoke"],
      ["list", "all"],
      ["create", "--read-only", "--permissions", "read"],
      ["create", "--forever"],
    ]
  ) assert.throws(() => parseTokenOptions(args), UsageError, args.join(" "));
  const { permissions, seconds, label } = parseTokenOptions(["create"]);
  assert.deepEqual([permissions, seconds, label], [["read", "write"], 7_776_000, "token: app"]);
});
