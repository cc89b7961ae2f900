import assert from "node:assert/strict";
import { EXIT_CONFIG } from "../../src/program/launcher/boot.ts";
import {
  restartPause,
  Supervisor,
  type SupervisorOptions,
} from "../../src/program/launcher/supervisor.ts";
import { silentLogger } from "../../src/log.ts";

/** A child that runs a piece of code with the port of the test as `port`. */
function child(code: string, port = 0, boot = "boot line") {
  return {
    name: "tiny",
    command: Deno.execPath(),
    args: ["eval", `const port = ${port};${code}`],
    env: { HOME: Deno.env.get("HOME") ?? "", DENO_DIR: Deno.env.get("DENO_DIR") ?? "" },
    boot: () => boot,
  };
}

function supervise(code: string, options: Partial<SupervisorOptions> = {}, port = 0): Supervisor {
  return new Supervisor(child(code, port), { logger: silentLogger, ...options });
}

/** Lines children send over TCP: the test waits for events, never for time. */
class Reports implements Disposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });

  get port(): number {
    return this.#listener.addr.port;
  }

  async next(): Promise<string> {
    using connection = await this.#listener.accept();
    return await new Response(connection.readable).text();
  }

  [Symbol.dispose](): void {
    this.#listener.close();
  }
}

const REPORT = `async function report(text) {
  const c = await Deno.connect({ hostname: "127.0.0.1", port });
  await c.write(new TextEncoder().encode(text));
  c.close();
}`;

Deno.test("pauses double from 200 ms to 10 s", () => {
  const pauses = Array.from({ length: 8 }, (_, deaths) => restartPause(deaths));
  assert.deepEqual(pauses, [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
});

Deno.test("a start for which the system has no room is tried again, the first is not", async () => {
  const folder = await Deno.makeTempDir({ prefix: "svc-" });
  const command = `${folder}/program`;
  await Deno.writeTextFile(command, "#!/bin/sh\nexit 3\n", { mode: 0o755 });
  const spec = { ...child(""), command, args: [] };
  const pauses: number[] = [];
  const supervisor: Supervisor = new Supervisor(spec, {
    logger: silentLogger,
    async delay(ms) {
      pauses.push(ms);
      if (pauses.length === 1) await Deno.remove(command);
      if (pauses.length === 3) await supervisor.stop("SIGTERM", 0);
    },
  });
  assert.equal(await supervisor.run(), 71);
  assert.deepEqual(pauses, [200, 400, 800]);
  await assert.rejects(
    new Supervisor(spec, { logger: silentLogger }).run(),
    Deno.errors.NotFound,
  );
  await Deno.remove(folder);
});

Deno.test("a child that dies is started again, later every time", async () => {
  const pauses: number[] = [];
  const supervisor = supervise("Deno.exit(3)", {
    now: () => 0,
    async delay(ms) {
      pauses.push(ms);
      if (pauses.length === 4) await supervisor.stop("SIGTERM", 0);
    },
  });
  assert.equal(await supervisor.run(), 3);
  assert.deepEqual(pauses, [200, 400, 800, 1600]);
});

Deno.test("a healthy minute starts the backoff anew", async () => {
  const pauses: number[] = [];
  let now = 0;
  const supervisor = supervise("Deno.exit(3)", {
    now: () => now += 60_000,
    async delay(ms) {
      pauses.push(ms);
      if (pauses.length === 3) await supervisor.stop("SIGTERM", 0);
    },
  });
  await supervisor.run();
  assert.deepEqual(pauses, [200, 200, 200]);
});

Deno.test("a start that cannot succeed is not repeated", async () => {
  const supervisor = supervise(`Deno.exit(${EXIT_CONFIG})`, {
    delay: () => Promise.reject(new Error("no pause is expected")),
  });
  assert.equal(await supervisor.run(), EXIT_CONFIG);
});

Deno.test("the child reads its start line and gets the signal", async () => {
  using reports = new Reports();
  const code = `${REPORT}
    Deno.addSignalListener("SIGTERM", () => Deno.exit(5));
    const reader = Deno.stdin.readable.getReader();
    const { value } = await reader.read();
    await report(new TextDecoder().decode(value));
    await reader.read();`;
  const supervisor = supervise(code, {}, reports.port);
  const run = supervisor.run();
  assert.equal(await reports.next(), "boot line\n");
  await supervisor.stop("SIGTERM", 60_000);
  assert.equal(await run, 5);
});

Deno.test("a child that ignores the signal is killed after the grace time", async () => {
  using reports = new Reports();
  const code = `${REPORT}
    Deno.addSignalListener("SIGTERM", () => {});
    await report("deaf");
    await new Promise(() => setInterval(() => {}, 1000));`;
  const supervisor = supervise(code, {}, reports.port);
  const run = supervisor.run();
  assert.equal(await reports.next(), "deaf");
  await supervisor.stop("SIGTERM", 20);
  assert.equal(await run, 128 + 9);
});

Deno.test("the environment of the child is what it is given", async () => {
  using reports = new Reports();
  Deno.env.set("SVC_TEST_SECRET", "peanuts");
  try {
    const code = `${REPORT} await report(JSON.stringify(Deno.env.toObject()));`;
    const supervisor = supervise(code, {}, reports.port);
    supervisor.startNoMore();
    const run = supervisor.run();
    assert.ok(!(await reports.next()).includes("peanuts"));
    assert.equal(await run, 0);
  } finally {
    Deno.env.delete("SVC_TEST_SECRET");
  }
});

Deno.test("a program that does not exist is an error", async () => {
  const spec = { ...child(""), command: "/nowhere/deno" };
  await assert.rejects(new Supervisor(spec, { logger: silentLogger }).run(), Deno.errors.NotFound);
});
