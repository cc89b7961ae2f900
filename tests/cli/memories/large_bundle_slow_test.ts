import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { Program } from "../../program.ts";
import { verifies } from "../../requirements.ts";
import { poll } from "../../within.ts";
import { answersAreMadeUp } from "../../watched_answers.ts";
import { Terminal } from "../terminal.ts";
import { exportOf, HEADER } from "./exports.ts";
import { SignedIn } from "./signed_in.ts";

/** Lines of the made-up export, and what they come to together. */
const LINES = 200_000;
const LINE_TEXT = 1500;
/** What the program takes for itself, and a little for the bundle. */
const MOST_MIB = 300;

async function keysIn(terminal: Terminal): Promise<string> {
  const identity = await generateIdentity();
  await terminal.write("keys.txt", identity);
  return await identityToRecipient(identity);
}

Deno.test("tens of thousands of memories go through a bundle into another relayer", async () => {
  await using here = await SignedIn.open();
  await here.terminal.write("all.ndjson", exportOf(20_000));
  const recipient = await keysIn(here.terminal);
  assert.equal((await here.run(["import", "~/all.ndjson"])).code, 0);
  await here.svc.relayer.idle();
  const made = await here.run(["export", "--bundle", "~/all.age", "--recipient", recipient]);
  assert.match(made.out, /^20,000 memories: ~\/all\.age\n/);
  await using there = await SignedIn.open();
  const { home } = here.terminal;
  const args = ["import", `${home}/all.age`, "--identity", `${home}/keys.txt`, "--yes"];
  assert.equal((await there.run(args)).out, "Took 20,000 memories.\n");
  assert.equal((await there.run(args)).out, "Took 0 memories.\n  20,000 are there already\n");
});

/** Runs a command and answers how much memory it took at most, in MiB. */
async function peakOf(args: readonly string[], home: string, url: string): Promise<number> {
  await using program = new Program(args, { HOME: home, SVC_SERVER_URL: url });
  let peak = 0;
  let isOver = false;
  const ended = program.end().finally(() => isOver = true);
  await poll(async () => {
    const status = await Deno.readTextFile(`/proc/${program.pid}/status`).catch(() => "");
    peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    return isOver;
  }, (isOver) => isOver);
  assert.equal(await ended, 0, program.errors.join("\n"));
  return peak;
}

/** An export of 300 MB that is made as it is sent, of texts that do not shrink. */
function largeExport(): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const random = crypto.getRandomValues(new Uint8Array(LINE_TEXT));
  const text = Buffer.from(random).toString("base64").slice(0, LINE_TEXT);
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      const lines = sent === 0 ? [JSON.stringify(HEADER)] : [];
      for (const end = sent + 100; sent < end; sent++) {
        const start = sent % 1000;
        const turned = text.slice(start) + text.slice(0, start);
        lines.push(JSON.stringify({ type: "memory", namespace: "n", text: `${sent} ${turned}` }));
      }
      if (sent >= LINES) lines.push(JSON.stringify({ type: "end", memories: LINES, errors: 0 }));
      controller.enqueue(encoder.encode(lines.map((line) => `${line}\n`).join("")));
      if (sent >= LINES) controller.close();
    },
  });
}

Deno.test({
  name: "a bundle of any size takes the same memory",
  ignore: Deno.build.os !== "linux",
  async fn() {
    verifies("13.5-6");
    let received = 0;
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      async (asked) => {
        const { pathname } = new URL(asked.url);
        if (pathname === "/api/export") return new Response(largeExport());
        const body = await asked.text();
        received += body.split("\n").length - 1;
        const none = { accepted: 0, skipped: 0, failed: 0, job_ids: [], skips: [], errors: [] };
        return Response.json({ ...none, status: "pending" }, { status: 202 });
      },
    );
    const url = `http://127.0.0.1:${server.addr.port}`;
    answersAreMadeUp(url);
    await using terminal = await Terminal.open();
    await terminal.signIn({ relayerUrl: url });
    const recipient = await keysIn(terminal);
    const path = `${terminal.home}/all.age`;
    const opening = [path, "--identity", `${terminal.home}/keys.txt`];
    const peaks = [
      await peakOf(["export", "--bundle", path, "--recipient", recipient], terminal.home, url),
      await peakOf(["export", "verify", ...opening], terminal.home, url),
      await peakOf(["import", ...opening], terminal.home, url),
    ];
    assert(peaks.every((peak) => peak > 10 && peak < MOST_MIB), `${peaks} MiB`);
    assert.equal(received, LINES);
  },
});
