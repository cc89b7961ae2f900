import assert from "node:assert/strict";
import { readCredentials } from "../../src/client/credentials_file.ts";
import { readOwner } from "../../src/client/owner_file.ts";
import { SvcClient } from "../../src/client/mod.ts";
import { inHome, Program, relayerEnv } from "../program.ts";
import { poll } from "../within.ts";
import { runCommand } from "./mcp_relayer.ts";

const PORT_OFF = { SVC_RATE_LIMIT_DISABLED: "1", SVC_MAX_PENDING_JOBS: "1000000" };
const WRITERS = 6;
const BULK = 20;
/** What must be accepted before the backup begins. */
const ENOUGH = 2000;

const environment = (home: string, more: Readonly<Record<string, string>>) => ({
  ...relayerEnv(home),
  ...PORT_OFF,
  SVC_LOG_LEVEL: "warn",
  SVC_FIRST_ACCOUNT: "false",
  ...more,
});

async function clientOf(home: string, program: Program): Promise<SvcClient> {
  const { port } = await program.event("listening");
  const { credentials } = await readCredentials(`${home}/.svc/credentials.json`);
  const { delegatePrivateKey: privateKey = "", accountId = "" } = credentials ?? {};
  return new SvcClient({ baseUrl: `http://127.0.0.1:${port}`, privateKey, accountId });
}

/** Writes until told to stop, and deletes one memory of each ten writes. */
async function write(
  client: SvcClient,
  writer: number,
  accepted: Set<string>,
  signal: AbortSignal,
): Promise<void> {
  for (let round = 0; !signal.aborted; round++) {
    const texts = Array.from({ length: BULK }, (_, i) => `Fact ${writer}.${round}.${i}`);
    await client.rememberBulk(texts.map((text) => ({ text, namespace: `w${writer}` })));
    for (const text of texts) accepted.add(text);
    if (round % 10 !== 9) continue;
    const { memory_id } = await client.remember("Not for long", { namespace: `gone${writer}` })
      .then(({ job_id }) => client.waitFor(job_id, { until: "done" })) as { memory_id: string };
    await client.deleteMemory(memory_id);
  }
}

async function everything(client: SvcClient, namespace: string): Promise<string[]> {
  return (await Array.fromAsync(client.allMemories({ namespace }))).map(({ text }) => text ?? "");
}

const json = async (args: readonly string[], env: Readonly<Record<string, string>>) =>
  JSON.parse(await runCommand([...args, "--json"], env));

/** Runs a command with a line of input; its exit code, output and errors. */
async function answering(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  line: string,
): Promise<{ code: number; out: string; errors: string }> {
  await using program = new Program(args, env);
  await program.write(`${line}\n`);
  const code = await program.end();
  return { code, out: await program.output, errors: program.errors.join("\n") };
}

async function flipped(path: string, at: number): Promise<string> {
  const bytes = await Deno.readFile(path);
  bytes[Math.floor(bytes.length * at)]! ^= 1;
  const to = `${path}.flipped`;
  await Deno.writeFile(to, bytes);
  return to;
}

for (const vectorStore of ["local", "lancedb"]) {
  Deno.test(`a backup under writes holds everything accepted before it: ${vectorStore}`, async () => {
    await inHome(async (home) => {
      const env = environment(home, { SVC_VECTOR_STORE: vectorStore });
      await runCommand(["account", "create", "--save"], { ...env, SVC_PORT: "8000" });
      const { words } = (await readOwner(`${home}/.svc/owner.json`))!;
      const accepted = new Set<string>();
      let before: Set<string>;
      let file: string;
      {
        await using program = new Program(["start"], { ...env, SVC_LOG_LEVEL: "info" });
        const client = await clientOf(home, program);
        const stop = new AbortController();
        const writing = Promise.all(
          Array.from(
            { length: WRITERS },
            (_, writer) => write(client, writer, accepted, stop.signal),
          ),
        );
        writing.catch(() => {}); // Another failure is told first.
        while (accepted.size < ENOUGH) await client.stats("w0");
        before = new Set(accepted);
        const made = await json(["backup", "--keep", "1"], env);
        file = made.path;
        assert.deepEqual(made.removed, []);
        stop.abort();
        await writing;
        assert.ok(accepted.size > before.size, "writes went on meanwhile");
        program.kill("SIGKILL");
      }
      assert.equal((await Deno.stat(file)).mode! & 0o777, 0o600);
      const bytes = await Deno.readFile(file);
      assert.equal(
        new TextDecoder("latin1").decode(bytes.subarray(0, 21)),
        "age-encryption.org/v1",
      );
      for (const at of [0.02, 0.5, 0.999]) {
        const broken = await answering(["backup", "verify", await flipped(file, at)], env, "");
        assert.equal(broken.code, 1, `a flipped byte at ${at}`);
        assert.match(broken.errors, /damaged/);
      }
      await inHome(async (other) => {
        // Another machine: it has the file, and its owner the words.
        const elsewhere = environment(other, { SVC_VECTOR_STORE: vectorStore });
        const wrong = await answering(["restore-backup", file], elsewhere, "no words");
        assert.equal(wrong.code, 1);
        const restored = await answering(["restore-backup", file], elsewhere, words);
        assert.equal(restored.code, 0, restored.errors);
        const twice = await answering(["restore-backup", file], elsewhere, words);
        assert.match(twice.errors, /not empty/);
        const recover = await answering(
          ["account", "recover", "--save"],
          { ...elsewhere, SVC_PORT: "8000" },
          words,
        );
        assert.equal(recover.code, 0, recover.errors);
        await using program = new Program(["start"], { ...elsewhere, SVC_LOG_LEVEL: "info" });
        const client = await clientOf(other, program);
        const found: string[] = [];
        for (let writer = 0; writer < WRITERS; writer++) {
          await poll(() => client.stats(`w${writer}`), ({ pending }) => pending === 0);
          found.push(...await everything(client, `w${writer}`));
          // Deleted before or after the backup: what comes back was not deleted then.
          assert.ok((await everything(client, `gone${writer}`)).length <= 1);
        }
        assert.equal(new Set(found).size, found.length, "nothing is there twice");
        assert.deepEqual([...before].filter((text) => !found.includes(text)), []);
        const text = [...before].find((text) => text.startsWith("Fact 0."))!;
        const { results } = await client.recall(text, { namespace: "w0" });
        assert.equal(results[0]?.text, text);
      });
    });
  });
}
