import assert from "node:assert/strict";
import { getPriority } from "node:os";
import type { Child } from "../crash/child.ts";
import { type Env, Installation, LISTENING } from "../crash/installation.ts";
import { freePort } from "../free_port.ts";
import { threadNiceness } from "../program/thread_niceness.ts";
import { call, health, type Identity, idle } from "../crash/wire.ts";
import { poll } from "../within.ts";

/** The flags of each process, as the program prints them. */
async function printed(installation: Installation): Promise<Record<string, string[]>> {
  const { code, output } = await installation.run(["--print-permissions"]);
  assert.equal(code, 0);
  const flags: Record<string, string[]> = {};
  let name = "";
  for (const line of output.trimEnd().split("\n")) {
    // The port of the internal listener is chosen at each start; here it is known.
    const internal = new URL(installation.internalUrl).host;
    if (line.startsWith("  ")) flags[name]!.push(line.trim().replace("127.0.0.1:0", internal));
    else flags[name = line] = [];
  }
  return flags;
}

/** Every list of flags that lacks one entry. */
function withoutOne(
  flags: readonly string[],
): { readonly entry: string; readonly flags: string[] }[] {
  return flags.flatMap((flag) => {
    const [name = "", list = ""] = flag.split("=");
    const entries = list.split(",");
    return entries.map((entry) => {
      const rest = entries.filter((other) => other !== entry);
      const others = flags.filter((other) => other !== flag);
      return {
        entry: `${name}=${entry}`,
        flags: rest.length === 0 ? others : [...others, `${name}=${rest.join(",")}`],
      };
    });
  });
}

/** Settings with ports that are known before the start. */
function fixedPorts(): Env {
  return {
    SVC_PORT: String(freePort()),
    SIDECAR_URL: `http://127.0.0.1:${freePort()}`,
    SIDECAR_AUTH_TOKEN: "a-token-of-the-test",
  };
}

/** A namespace that is loaded in more than one page. */
const LARGE = "large";

/** Stores so many memories that memory for their vectors is taken ahead. */
async function fillLarge(url: string, identity: Identity): Promise<void> {
  for (let at = 0; at < 160; at += 20) {
    const items = Array.from({ length: 20 }, (_, i) => {
      return { text: `Cup ${at + i} stands on the shelf`, namespace: LARGE };
    });
    const { status } = await call(url, identity, {
      route: "POST /api/remember/bulk",
      body: { items },
    });
    assert.equal(status, 202);
  }
  await idle(url);
}

/** Bytes that a process has read so far on Linux, from proc(5). */
function bytesRead(pid: number): number {
  return Number(/^rchar: (\d+)$/m.exec(Deno.readTextFileSync(`/proc/${pid}/io`))![1]);
}

/** Whether loading a namespace takes memory ahead, by reading two megabytes of zeros. */
async function takesAhead(pid: number, url: string, identity: Identity): Promise<boolean> {
  const before = bytesRead(pid);
  const query = { query: "cup", namespace: LARGE };
  await call(url, identity, { route: "POST /api/recall", body: query });
  const read = () => Promise.resolve(bytesRead(pid) - before);
  return await poll(read, (bytes) => bytes >= 2 * 2 ** 20, 5000).then(() => true, () => false);
}

/** What a relayer cannot do: "" when it works. */
async function failureOf(child: Child, identity: Identity): Promise<string> {
  try {
    await child.until(LISTENING);
  } catch {
    return "start";
  }
  const url = `http://127.0.0.1:${LISTENING.exec(child.errors)![1]}`;
  const down = async () => {
    const { dependencies } = await health(url);
    return Object.entries(dependencies).find(([, state]) => state.status === "down")?.[0];
  };
  // On a busy machine the embedder takes its time.
  const isUp = await poll(down, (name) => name === undefined, 3000).then(() => true, () => false);
  if (!isUp) return `health: ${await down()}`;
  const body = { text: "The kettle is blue" };
  const written = await call(url, identity, { route: "POST /api/remember", body });
  if (written.status !== 202) return `remember: ${written.body.code}`;
  await idle(url, 5000);
  const query = { query: "kettle", limit: 1 };
  const found = await call(url, identity, { route: "POST /api/recall", body: query });
  if (found.body.results?.length !== 1) return `recall: ${found.body.code}`;
  const lowered = Deno.build.os !== "linux" ||
    [...threadNiceness(child.pid).values()].includes(getPriority() + 5);
  if (!lowered) return "no thread lets the others go first";
  const isAhead = Deno.build.os !== "linux" || await takesAhead(child.pid, url, identity);
  return isAhead ? "" : "no memory is taken ahead";
}

Deno.test("no process may start programs, load native code or read the environment", async () => {
  await using installation = await Installation.create();
  const flags = await printed(installation);
  assert.deepEqual(Object.keys(flags), ["relayer", "sidecar"]);
  for (const flag of Object.values(flags).flat()) {
    assert.match(flag, /^--allow-(?:(?:net|read|write)=.|sys=getPriority,setPriority$)/);
    assert.ok(!flag.includes("*"));
  }
});

Deno.test("the relayer needs every entry of its list, and nothing more", async () => {
  await using installation = await Installation.create(await fixedPorts());
  const identity = await installation.account();
  const { relayer: flags = [] } = await printed(installation);
  await using sidecar = installation.spawnProgram(["sidecar"]);
  await sidecar.until(/"sidecar listening"/);
  {
    await using child = await installation.spawnRelayer();
    await child.until(LISTENING);
    await fillLarge(`http://127.0.0.1:${LISTENING.exec(child.errors)![1]}`, identity);
  }
  {
    await using child = await installation.spawnRelayer();
    assert.equal(await failureOf(child, identity), "");
  }
  for (const { entry, flags: fewer } of withoutOne(flags)) {
    await using child = await installation.spawnRelayer({}, fewer);
    assert.notEqual(await failureOf(child, identity), "", `works without ${entry}`);
  }
});

Deno.test("the sidecar needs every entry of its list, and nothing more", async () => {
  await using installation = await Installation.create(await fixedPorts());
  const { sidecar: flags = [] } = await printed(installation);
  await using relayer = await installation.start();
  const state = async () => (await health(relayer.url)).dependencies.sidecar.status;
  for (const { entry, flags: fewer } of withoutOne(flags)) {
    await using child = await installation.spawnSidecar(fewer);
    await child.ended();
    assert.equal(await state(), "down", `works without ${entry}`);
  }
  await using _child = await installation.spawnSidecar(flags);
  await poll(state, (status) => status === "ok", 5000);
});

Deno.test("another directory, port or host works by its setting alone", async () => {
  await using installation = await Installation.create();
  const { home } = installation;
  // An embedder that asks another host, as one in the network does.
  await using host = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    return Response.json([1, 0, 0, 0]);
  });
  const plugin = `${home}/plugins/embedder.ts`;
  await Deno.mkdir(`${home}/plugins`);
  await Deno.writeTextFile(plugin, REMOTE_EMBEDDER);
  const env: Env = {
    SVC_DATA_DIR: `${home}/elsewhere and back`,
    SVC_PORT: String(freePort()),
    SVC_HOST: "localhost",
    SVC_EMBEDDER: plugin,
    MY_EMBEDDER_HOST: `127.0.0.1:${host.addr.port}`,
  };
  const { code, output, errors } = await installation.run(["account", "create", "--json"], env);
  assert.equal(code, 0, errors);
  await using program = await installation.launch(["start"], env);
  assert.equal(new URL(program.url).port, env["SVC_PORT"]);
  await poll(() => health(program.url), (now) => now.status === "ok", 5000);
  assert.ok((await Deno.stat(`${env["SVC_DATA_DIR"]}/index.db`)).isFile);
  assert.ok(JSON.parse(output).account_id);
  assert.equal(await program.stop(), 0);

  const comma = await installation.run(["start"], { SVC_DATA_DIR: `${home}/a, b` });
  assert.equal(comma.code, 78);
  assert.match(comma.errors, /a, b" has a comma/);
});

const REMOTE_EMBEDDER = `
const host = {
  env: "MY_EMBEDDER_HOST", fallback: "", doc: "Host of the embedder", parse: (raw) => raw,
};
export default {
  name: "remote",
  fields: { host },
  permissions: (role, values) => ({ net: [values.host] }),
  roles: {
    embedder: ({ host }) => ({
      model: "remote",
      dimensions: 4,
      maxTokens: 100,
      async embed(texts) {
        const vector = Float32Array.from(await (await fetch("http://" + host)).json());
        return texts.map(() => [vector]);
      },
      async [Symbol.asyncDispose]() {},
    }),
  },
};
`;
