import assert from "node:assert/strict";
import { Installation } from "../crash/installation.ts";
import { textOf } from "../crash/texts.ts";
import { call, health, idle, listAll } from "../crash/wire.ts";
import { poll } from "../within.ts";

/** Log line of a process the launcher started. */
const started = (name: string) =>
  new RegExp(`"child process started","process":"${name}","pid":(\\d+)`);
const SIDECAR_LISTENING = /"sidecar listening","port":(\d+)/;

const encoder = new TextEncoder();

function connectTo(port: string | number): Promise<Deno.TcpConn> {
  return Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
}

/** Sends a request whose body never ends; it is being read once this resolves. */
async function sendHalfBody(port: string | number): Promise<Deno.TcpConn> {
  const connection = await connectTo(port);
  const head =
    `POST /accounts/challenge HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nexpect: 100-continue\r\n` +
    "content-type: application/json\r\ncontent-length: 1000\r\n\r\n";
  await connection.write(encoder.encode(head));
  const answer = new Uint8Array(100);
  const length = await connection.read(answer) ?? 0;
  assert.match(new TextDecoder().decode(answer.subarray(0, length)), /^HTTP\/1.1 100 /);
  await connection.write(encoder.encode("{"));
  return connection;
}

/** Whether nobody listens on a port of this machine. */
async function isRefused(port: string | number): Promise<boolean> {
  try {
    using _connection = await connectTo(port);
    return false;
  } catch {
    return true;
  }
}

/** Whether a process has ended; one that nobody has asked about yet is a zombie. */
async function isGone(pid: number): Promise<boolean> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => ") Z");
  return /\) [ZX]/.test(stat);
}

Deno.test("without the launcher both processes are gone within a second", async () => {
  await using installation = await Installation.create({ SVC_EMBEDDER: "memory" });
  await using program = await installation.launch();
  const { child } = program;
  const sidecar = (await child.until(SIDECAR_LISTENING))[1]!;
  const port = new URL(program.url).port;
  assert.deepEqual([await isRefused(port), await isRefused(sidecar)], [false, false]);
  const pids: number[] = [];
  for (const name of ["relayer", "sidecar"]) {
    pids.push(Number((await child.until(started(name)))[1]));
  }
  const [relayerPid = 0, sidecarPid = 0] = pids;
  assert.deepEqual([await isGone(relayerPid), await isGone(sidecarPid)], [false, false]);
  child.kill("SIGKILL");
  const gone = async () => [
    await isRefused(port),
    await isRefused(sidecar),
    await isGone(relayerPid),
    await isGone(sidecarPid),
  ];
  await poll(gone, (refused) => refused.every(Boolean), 1000);
});

Deno.test("a relayer that dies under the launcher is back with everything accepted", async () => {
  await using installation = await Installation.create({ SVC_EMBEDDER: "memory" });
  const identity = await installation.account();
  await using program = await installation.launch();
  const { child, url } = program;
  const ids: string[] = [];
  for (let n = 0; n < 20; n++) {
    const body = { text: textOf(60) };
    const answer = await call(url, identity, { route: "POST /api/remember", body });
    assert.equal(answer.status, 202);
    ids.push(answer.body.memory_id);
  }
  const pid = Number((await child.until(started("relayer")))[1]);
  const from = child.errors.length;
  Deno.kill(pid, "SIGKILL");
  const port = (await child.until(/"event":"listening".*"port":(\d+)/, from))[1];
  const next = `http://127.0.0.1:${port}`;
  await idle(next);
  const memories = await listAll(next, identity, "default");
  assert.deepEqual(memories.map(({ memory_id }) => memory_id).sort(), ids.sort());
  await poll(() => health(next), (now) => now.dependencies.sidecar.status === "ok", 5000);
  assert.equal(await program.stop(), 0);
});

Deno.test("SIGTERM ends both in time, also with jobs and requests that never end", async () => {
  await using installation = await Installation.create({ SVC_SHUTDOWN_SECONDS: "2" });
  const identity = await installation.account();
  await using program = await installation.launch();
  const { url, child } = program;
  const ids: string[] = [];
  for (let n = 0; n < 6; n++) {
    const items = Array.from({ length: 20 }, () => ({ text: textOf(300) }));
    const answer = await call(url, identity, { route: "POST /api/remember/bulk", body: { items } });
    assert.equal(answer.status, 202);
    ids.push(...answer.body.job_ids);
  }
  const { port } = new URL(url);
  using halfHead = await connectTo(port);
  await halfHead.write(encoder.encode("POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n"));
  using _halfBody = await sendHalfBody(port);

  const begin = performance.now();
  child.kill("SIGTERM");
  const { code } = await child.ended();
  const ms = performance.now() - begin;
  assert.equal(code, 0);
  // The limit, and what closing the databases and the sidecar takes.
  assert.ok(ms < 3500, `${ms} ms`);
  assert.match(child.errors, /"stopped"/);

  await using relayer = await installation.start();
  await idle(relayer.url);
  const memories = await listAll(relayer.url, identity, "default");
  assert.deepEqual(memories.map(({ memory_id }) => memory_id).sort(), ids.sort());
});

Deno.test("who waits for a job that a stop puts down is told that it was accepted", async () => {
  await using installation = await Installation.create({
    SVC_EMBEDDER: "memory",
    SVC_BLOB_STORE: new URL("./slow_blob_store.ts", import.meta.url).href,
    SVC_SHUTDOWN_SECONDS: "1",
  });
  const identity = await installation.account();
  await using relayer = await installation.launch(["serve"]);
  const vector = Array.from({ length: 256 }, () => 1);
  const body = { encrypted_data: btoa("tea"), vector };
  const answer = call(relayer.url, identity, { route: "POST /api/remember/manual", body });
  await relayer.child.until(/blob given/);
  const [code, { status }] = await Promise.all([relayer.stop(), answer]);
  assert.deepEqual([code, status], [0, 202]);
});

Deno.test("a relayer whose log is closed goes on, and still ends as asked", async () => {
  await using installation = await Installation.create({ SVC_EMBEDDER: "memory" });
  const identity = await installation.account();
  await using relayer = await installation.start();
  relayer.child.closeOutput();
  const body = { text: textOf(60) };
  const answer = await call(relayer.url, identity, { route: "POST /api/remember", body });
  assert.equal(answer.status, 202);
  await idle(relayer.url);
  assert.equal(await relayer.stop(), 0);
});

Deno.test({
  name: "a relayer whose first words nobody takes serves all the same",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using installation = await Installation.create({ SVC_EMBEDDER: "memory" });
    await using program = await installation.launch(["start"], {}, "exec > /dev/full");
    const answer = await fetch(`${program.url}/version`);
    assert.equal(answer.status, 200);
    await answer.body?.cancel();
    assert.equal(await program.stop(), 0);
    assert.doesNotMatch(program.child.errors, /starting it again/);
  },
});
