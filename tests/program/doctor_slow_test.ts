import assert from "node:assert/strict";
import { freePort } from "../free_port.ts";
import { inHome, Program, relayerEnv } from "../program.ts";
import { poll } from "../within.ts";

interface Report {
  readonly code: number;
  readonly ok: boolean;
  readonly findings: readonly { state: string; check: string; found: string; advice?: string }[];
}

async function doctor(env: Record<string, string>, ...args: string[]): Promise<Report> {
  await using program = new Program(["doctor", "--json", ...args], env);
  const code = await program.end();
  return { code, ...JSON.parse(await program.output) };
}

const wrong = ({ findings }: Report) =>
  findings.filter(({ state }) => state !== "ok").map(({ check, found }) => `${check}: ${found}`);

const found = ({ findings }: Report, check: string) =>
  findings.filter((finding) => finding.check === check).map(({ found }) => found).join("\n");

const envOf = (home: string) => ({
  ...relayerEnv(home),
  SVC_PORT: String(freePort()),
  SVC_LOG_LEVEL: "info",
});

Deno.test("svc doctor finds nothing wrong before the first start, beside a relayer, and after it", async () => {
  await inHome(async (home) => {
    const env = envOf(home);
    const fresh = await doctor(env);
    assert.deepEqual([fresh.code, fresh.ok, wrong(fresh)], [0, true, []]);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(home)), []);
    {
      await using program = new Program(["start"], env);
      await program.event("listening");
      const sidecar = async () => {
        const answer = await fetch(`http://127.0.0.1:${env.SVC_PORT}/health`);
        return (await answer.json()).dependencies.sidecar.status;
      };
      await poll(sidecar, (status) => status === "ok");
      const beside = await doctor(env);
      assert.deepEqual([beside.code, wrong(beside)], [0, []]);
      assert.match(found(beside, "listener"), /the relayer answers at 127\.0\.0\.1:\d+, version/);
      assert.match(found(beside, "databases"), /^core\.db is whole/m);
      assert.match(found(beside, "databases"), /^jobs\.kv is in use, and not looked through$/m);
      assert.match(found(beside, "relayer key"), /it fits the data directory/);
      assert.match(found(beside, "dependencies"), /^working: .*queue.*sidecar/);
      assert.match(found(beside, "descriptors"), /^the running relayer may have \d+/);
      assert.match(found(beside, "disk"), /GiB are free/);
      program.kill("SIGTERM");
      assert.equal(await program.end(), 0);
    }
    const after = await doctor(env);
    assert.deepEqual([after.code, wrong(after)], [0, []]);
    assert.match(found(after, "databases"), /^jobs\.kv is whole/m);
    await using again = new Program(["start"], env);
    await again.event("listening");
  });
});

Deno.test("svc doctor --public asks as a client of a proxy does, and says what is wrong", async () => {
  await inHome(async (home) => {
    const env = envOf(home);
    const to = `http://127.0.0.1:${env.SVC_PORT}`;
    // It says nothing about who asks, and is not this machine's by the text of its address.
    const listening = { hostname: "0.0.0.0", port: 0, onListen() {} };
    await using proxy = Deno.serve(listening, async (request) => {
      const { pathname } = new URL(request.url);
      const headers = new Headers(request.headers);
      for (const name of ["host", "x-forwarded-for", "x-real-ip", "forwarded"]) {
        headers.delete(name);
      }
      const body = request.body === null ? null : await request.bytes();
      return await fetch(to + pathname, { method: request.method, headers, body });
    });
    const publicUrl = `http://0.0.0.0:${proxy.addr.port}`;
    const behind = { ...env, SVC_PUBLIC_URL: publicUrl, SVC_BEHIND_PROXY: "127.0.0.1" };
    {
      await using program = new Program(["start"], behind);
      await program.event("listening");
      const report = await doctor(behind, "--public");
      assert.equal(report.code, 1);
      assert.match(found(report, "public address"), /with the accounts of this data directory/);
      assert.match(found(report, "public address"), /^\/metrics is closed \(403\)$/m);
      assert.match(found(report, "public address"), /^registration is closed \(403\)$/m);
      const problems = report.findings.filter(({ check, state }) =>
        check === "public address" && state === "problem"
      );
      assert.deepEqual(problems.map(({ found }) => found), [`${publicUrl} has no TLS`]);
    }
    // Started as for this machine alone: the proxy makes everybody local.
    await using program = new Program(["start"], env);
    await program.event("listening");
    const report = await doctor(behind, "--public");
    assert.match(found(report, "public address"), /^\/metrics is open to everybody$/m);
    assert.match(found(report, "public address"), /^registration is open to everybody$/m);
  });
});

Deno.test("svc doctor speaks TLS with the listener, and says in words what to do", async () => {
  await inHome(async (home) => {
    const tls = new URL("../testdata/tls/", import.meta.url);
    const env = {
      ...envOf(home),
      SVC_PUBLIC_URL: "https://memory.example.org",
      SVC_TLS_CERT_FILE: `${home}/cert.pem`,
      SVC_TLS_KEY_FILE: `${home}/key.pem`,
    };
    await Deno.copyFile(new URL("first.cert.pem", tls), env.SVC_TLS_CERT_FILE);
    await Deno.copyFile(new URL("first.key.pem", tls), env.SVC_TLS_KEY_FILE);
    await Deno.chmod(env.SVC_TLS_KEY_FILE, 0o644);
    await using program = new Program(["start"], env);
    await program.event("listening");
    await using looking = new Program(["doctor"], env);
    assert.equal(await looking.end(), 1);
    const text = await looking.output;
    assert.match(text, /^ok +listener +the relayer answers/m);
    assert.match(text, /^problem +TLS +the certificate is not for memory\.example\.org\n +→ get/m);
    assert.match(text, /^problem +secret files +TLS key: .*\(0644\)\n +→ chmod 600 .*key\.pem$/m);
  });
});

Deno.test("svc doctor explains itself, and refuses what it does not know", async () => {
  await inHome(async (home) => {
    await using help = new Program(["doctor", "--help"], { HOME: home });
    assert.equal(await help.end(), 0);
    assert.match(await help.output, /^Usage: svc doctor/);
    await using unknown = new Program(["doctor", "--pubilc"], { HOME: home });
    assert.equal(await unknown.end(), 2);
  });
});
