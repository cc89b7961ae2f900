import assert from "node:assert/strict";
import { Refused, SessionLost, Unanswered } from "../../../cli/bridge/failures.ts";
import { reconnectDelay, ReconnectingSession } from "../../../cli/bridge/reconnecting_session.ts";
import { callRelayer, NotRepeated, TimedOut } from "../../../cli/bridge/remote_call.ts";
import type { Session } from "../../../cli/bridge/sessions/session.ts";
import { silentLogger } from "../../../src/log.ts";
import { explain } from "../../../cli/bridge/tool_results.ts";
import { verifies } from "../../requirements.ts";
import { turns } from "../../within.ts";

/** A session that answers nothing until it is told to end. */
function quietSession(): Session & { readonly end: (reason: Error) => void } {
  const { promise, resolve } = Promise.withResolvers<Error>();
  return {
    transport: "http",
    ended: promise,
    end: resolve,
    request: (_, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        void promise.then(reject);
      }),
    notify: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

const forever = new AbortController().signal;

/** A connection whose time passes only in its pauses. */
function timed(open: (attempt: number) => Promise<Session>) {
  const pauses: number[] = [];
  const attempts: number[] = [];
  let now = 0;
  const connection = new ReconnectingSession({
    open: () => {
      attempts.push(now);
      return open(attempts.length);
    },
    logger: silentLogger,
    random: () => 1,
    now: () => now,
    pause: (ms) => {
      pauses.push(ms);
      now += ms;
      return Promise.resolve();
    },
  });
  return { connection, pauses, attempts, pass: (ms: number) => now += ms };
}

Deno.test("pauses double from half a second to 15 s, less up to half of jitter", () => {
  verifies("13.3-4");
  const longest = Array.from({ length: 7 }, (_, n) => reconnectDelay(n, 1));
  assert.deepEqual(longest, [500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
  assert.deepEqual([0, 1, 2].map((n) => reconnectDelay(n, 0)), [250, 500, 1000]);
  for (let n = 0; n < 2000; n += 7) {
    const delay = reconnectDelay(n, Math.random());
    assert.ok(delay >= 250 && delay <= 15_000);
  }
});

Deno.test("a connection tries without end, and rests after a success", async () => {
  verifies("13.3-4", "13.2-10");
  const session = quietSession();
  const { connection, pauses, attempts, pass } = timed((attempt) =>
    attempt <= 50
      ? Promise.reject(new Unanswered("down"))
      : Promise.resolve(attempt === 51 ? session : quietSession())
  );
  connection.connect();
  assert.equal(await connection.session(forever), session);
  assert.equal(attempts.length, 51);
  assert.deepEqual(pauses.slice(0, 6), [500, 1000, 2000, 4000, 8000, 15_000]);
  assert.ok(pauses.every((ms) => ms <= 15_000));
  pass(60_000);
  session.end(new Unanswered("broken"));
  await session.ended;
  assert.notEqual(await connection.session(forever), undefined);
  assert.equal(pauses[50], 500, "it lived, so that pauses begin anew");
  await connection.close("now");
});

Deno.test("sessions that end at once are no success", async () => {
  verifies("13.3-4");
  const { connection, pauses } = timed((attempt) => {
    const session = quietSession();
    if (attempt < 5) session.end(new SessionLost("gone"));
    return Promise.resolve(session);
  });
  while (pauses.length < 4) await connection.session(forever);
  assert.deepEqual(pauses, [500, 1000, 2000, 4000]);
  await connection.close("now");
});

Deno.test("a rejected key is not tried again until somebody calls, then at once", async () => {
  verifies("13.2-7");
  const rejected = new Refused(401, "no");
  const { connection, attempts } = timed(() => Promise.reject(rejected));
  connection.connect();
  await assert.rejects(connection.session(forever), rejected);
  assert.equal(attempts.length, 1);
  await assert.rejects(connection.session(forever), rejected);
  assert.deepEqual(attempts, [0, 500], "half a second apart");
  await connection.close("now");
  await assert.rejects(connection.session(forever), /given up/);
});

Deno.test("a refusal that names a time is obeyed", async () => {
  verifies("13.3-4");
  const { connection, pauses } = timed((attempt) =>
    attempt === 1
      ? Promise.reject(new Refused(429, "later", "session_limit", 9))
      : Promise.resolve(quietSession())
  );
  await connection.session(forever);
  assert.deepEqual(pauses, [9000]);
  await connection.close("now");
});

Deno.test("a connection that is closed leaves no session behind that was being opened", async () => {
  verifies("13.3-8");
  const opening = Promise.withResolvers<Session>();
  const { connection } = timed(() => opening.promise);
  connection.connect();
  await Promise.resolve();
  const closing = connection.close("now");
  let isClosed = false;
  opening.resolve({
    ...quietSession(),
    close: async () => {
      await turns();
      isClosed = true;
    },
  });
  await closing;
  assert(isClosed);
});

Deno.test("a call that is never answered ends at its deadline, and so does its session", async () => {
  verifies("13.3-5");
  const closed: string[] = [];
  const { connection } = timed(() =>
    Promise.resolve({
      ...quietSession(),
      close: (how) => Promise.resolve(void closed.push(how)),
    })
  );
  const around = { connection, honoursKeys: () => Promise.resolve(true), logger: silentLogger };
  const call = { method: "tools/call", timeoutMs: 5, signal: forever };
  await assert.rejects(callRelayer({ ...call, repeatable: "always" }, around), TimedOut);
  for (const repeatable of ["with key", "never"] as const) {
    await assert.rejects(callRelayer({ ...call, repeatable }, around), (error) => {
      assert.ok(error instanceof NotRepeated && error.mayBeDone);
      assert.match(error.message, /whether it was saved is not known/);
      return true;
    });
  }
  assert.deepEqual(closed, ["idle", "idle", "idle"]);
  const said = explain(new TimedOut("No answer"), "http://127.0.0.1:1");
  assert.deepEqual(said, {
    message: "No answer (http://127.0.0.1:1)",
    code: "request_timeout",
  });
  await connection.close("now");
});

Deno.test("a call that breaks every connection is given up", async () => {
  verifies("13.3-5", "13.3-6");
  let sent = 0;
  const { connection } = timed(() => {
    const session = quietSession();
    const broken = new Unanswered("broken");
    return Promise.resolve({
      ...session,
      request: () => {
        sent++;
        session.end(broken);
        return Promise.reject(broken);
      },
    });
  });
  const around = { connection, honoursKeys: () => Promise.resolve(true), logger: silentLogger };
  const call = { method: "tools/call", timeoutMs: 10_000, signal: forever };
  await assert.rejects(callRelayer({ ...call, repeatable: "always" }, around), Unanswered);
  assert.equal(sent, 5);
  sent = 0;
  await assert.rejects(callRelayer({ ...call, repeatable: "with key" }, around), NotRepeated);
  assert.equal(sent, 5);
  sent = 0;
  await assert.rejects(callRelayer({ ...call, repeatable: "never" }, around), NotRepeated);
  assert.equal(sent, 1);
  await connection.close("now");
});
