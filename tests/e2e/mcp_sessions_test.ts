import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { openAccounts } from "../../src/program/commands/account_store.ts";
import { verifies } from "../requirements.ts";
import type { OpenProgram } from "../mcp_program.ts";
import { started } from "./mcp_program.ts";
import { type McpKey, McpPeer, type PeerAnswer } from "./mcp_peer.ts";

const SESSIONS = 1000;
const OF_AN_ADDRESS = 16;
const STARTS_A_MINUTE = 30;
/** Starts under way at a time. */
const AT_ONCE = 32;

/** So many fresh keys, registered as the account commands do, an account for each address. */
async function register(env: Readonly<Record<string, string>>, count: number): Promise<McpKey[]> {
  await using store = await openAccounts(env, env["HOME"]!, {
    walletFile: undefined,
    changes: true,
  });
  const keys: McpKey[] = [];
  let accountId = "";
  for (let i = 0; i < count; i++) {
    const { d = "", x = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
    const hex = (text: string) => Uint8Array.fromBase64(text, { alphabet: "base64url" }).toHex();
    if (i % OF_AN_ADDRESS === 0) {
      const owner = `0x${crypto.getRandomValues(new Uint8Array(32)).toHex()}`;
      ({ accountId } = await store.admin.create(owner));
    }
    const key = { publicKey: hex(x), label: "load", permissions: ["read", "write"] as const };
    await store.admin.addKey(accountId, key);
    keys.push({ privateKey: hex(d), accountId });
  }
  return keys;
}

/** Resident memory of processes together, MiB. */
async function residentMiB(pids: readonly number[]): Promise<number> {
  let total = 0;
  for (const pid of pids) {
    const status = await Deno.readTextFile(`/proc/${pid}/status`);
    total += Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
  }
  return total / 1024;
}

/** Open sessions by transport, as the relayer's metrics tell. */
async function openSessions(base: string): Promise<{ sse: number; streamable: number }> {
  const text = await (await fetch(`${base}/metrics`)).text();
  const of = (transport: string) =>
    Number(new RegExp(`svc_mcp_sessions{transport="${transport}"} (\\d+)`).exec(text)?.[1]);
  return { sse: of("sse"), streamable: of("streamable") };
}

async function assertRefused(answer: PeerAnswer, cap: string): Promise<void> {
  const { error } = JSON.parse(await answer.text());
  assert.equal(answer.status, 429, cap);
  assert.equal(error.code, -32000);
  assert.equal(error.data.cap, cap);
  assert.ok(error.message.includes(cap));
  const wait = Number(answer.headers["retry-after"]);
  assert.ok(wait >= 1 && wait <= 60, `${wait} s`);
}

/** Resolves when so many sessions are open; at most 2 s from now. */
async function untilOpen(base: string, count: number): Promise<void> {
  const end = performance.now() + 2000;
  for (;;) {
    const { sse, streamable } = await openSessions(base);
    if (sse + streamable === count) return;
    assert.ok(performance.now() < end, `${sse} + ${streamable} sessions are open after 2 s`);
  }
}

/** Opens sessions, so many at a time; every second one is of the older transport. */
async function openAll(peers: readonly McpPeer[]): Promise<void> {
  const rest = peers.entries();
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (const [i, peer] of rest) {
      const opened = await (i % 2 === 0 ? peer.openSse() : peer.open());
      assert.equal(opened.status, 200);
    }
  }));
}

/** A started program whose log is read all the time: a full pipe would stop it. */
async function startedAndRead(test: (svc: OpenProgram) => Promise<void>): Promise<void> {
  let log: Promise<unknown> = Promise.resolve();
  await started(async (svc) => {
    log = svc.program.event("shutting down");
    log.catch(() => {});
    await test(svc);
  });
  await log;
}

Deno.test("a thousand sessions of a thousand keys, and not one more", async () => {
  verifies("9-21", "11-11", "11-12", "16-18");
  await startedAndRead(async ({ base, env, relayer, sidecar }) => {
    const keys = await register(env, SESSIONS + 1);
    const peers = keys.map((key, i) => {
      const n = Math.floor(i / OF_AN_ADDRESS);
      return new McpPeer(base, `127.0.${1 + (n >> 4)}.${1 + (n & 15)}`, key);
    });
    const another = peers.pop()!;
    const before = await residentMiB([relayer, sidecar]);
    const begin = performance.now();
    await openAll(peers);
    const seconds = (performance.now() - begin) / 1000;
    const grown = await residentMiB([relayer, sidecar]) - before;
    assert.ok(seconds < 15, `${seconds} s`);
    assert.ok(grown < 150, `${grown} MiB`);
    assert.deepEqual(await openSessions(base), { sse: SESSIONS / 2, streamable: SESSIONS / 2 });
    await assertRefused(await another.open(), "global_cap");
    await assertRefused(await another.openSse(), "global_cap");

    // Clients that die: their connections break without a word.
    for (const peer of peers) peer.stream?.destroy();
    await untilOpen(base, SESSIONS / 2);
    assert.equal((await another.open()).status, 200);
    // Sessions without a connection end when their clients say so.
    const streamable = [another, ...peers.filter(({ id }) => id !== "")];
    for (const peer of streamable) assert.equal(await peer.close(), 200);
    await untilOpen(base, 0);
  });
});

Deno.test("of one address sixteen sessions, and thirty starts in a minute", async () => {
  verifies("11-11", "11-12", "11-14");
  await startedAndRead(async ({ base, env }) => {
    const keys = await register(env, OF_AN_ADDRESS + 1);
    const peers = keys.map((key) => new McpPeer(base, "127.0.9.1", key));
    const another = peers.pop()!;
    await openAll(peers);
    await assertRefused(await another.open(), "ip_active_cap");
    await assertRefused(await another.openSse(), "ip_active_cap");
    assert.equal((await new McpPeer(base, "127.0.9.2", keys[0]!).openSse()).status, 200);
    peers[0]!.stream!.destroy();
    await untilOpen(base, OF_AN_ADDRESS);
    await peers[1]!.close();
    assert.equal((await another.open()).status, 200);
    assert.equal((await peers[0]!.openSse()).status, 200);
    await assertRefused(await peers[1]!.open(), "ip_active_cap");

    const busy = new McpPeer(base, "127.0.9.3", keys[1]!);
    for (let i = 0; i < STARTS_A_MINUTE; i++) {
      assert.equal((await busy.open()).status, 200);
      await busy.close();
    }
    const late = await busy.open();
    assert.ok(Number(late.headers["retry-after"]) <= 60);
    await assertRefused(late, "ip_burst_cap");
    for (const peer of peers) peer.stream?.destroy();
  });
});
