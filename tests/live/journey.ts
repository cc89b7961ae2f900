/**
 * Tries a running relayer from outside: remember, wait until the blob is stored, recall, read the
 * blob from an aggregator, delete. For deployments on a public network, which no test can reach.
 *
 * `deno task live [--relayer URL] [--aggregator URL] [--minutes N]`; the key is that of
 * `svc login` or `svc account create --save`.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { SvcClient } from "../../src/client/client.ts";
import { readCredentials } from "../../src/client/credentials_file.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    relayer: { type: "string" },
    aggregator: { type: "string" },
    minutes: { type: "string", default: "10" },
  },
});

const encoder = new TextEncoder();
const say = (text: string): void => void Deno.stdout.writeSync(encoder.encode(`${text}\n`));

/** Runs one step and says how it went. */
async function step<T>(name: string, work: () => Promise<T>, about = (_: T) => ""): Promise<T> {
  const began = performance.now();
  try {
    const result = await work();
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    say(`ok      ${name} (${seconds} s) ${about(result)}`);
    return result;
  } catch (error) {
    say(`FAILED  ${name}: ${error instanceof Error ? error.message : error}`);
    Deno.exit(1);
  }
}

/** Asks until there is an answer, or the time is up. */
async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + Number(values.minutes) * 60_000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > end) throw new Error(`not within ${values.minutes} minutes`);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

const home = Deno.env.get("HOME") ?? Deno.env.get("USERPROFILE") ?? "";
const file = Deno.env.get("SVC_CREDENTIALS_FILE") ?? `${home}/.svc/credentials.json`;
const { credentials } = await readCredentials(file);
if (credentials === undefined) {
  say(`There are no credentials in ${file}: sign in first`);
  Deno.exit(3);
}
const namespace = `live-${Date.now().toString(36)}`;
const client = new SvcClient({
  baseUrl: values.relayer ?? credentials.relayerUrl,
  privateKey: credentials.delegatePrivateKey,
  accountId: credentials.accountId,
});
const fact = `The word of the day is ${crypto.randomUUID()}`;

const health = await step("the relayer is well", () => client.health(), ({ status }) => status);
for (const [name, { status }] of Object.entries(health.dependencies)) {
  say(`        ${name}: ${status}`);
}
const accepted = await step("remember", () => client.remember(fact, { namespace }));
await step("recall right after it", async () => {
  const { results } = await client.recall(fact, { namespace });
  if (results[0]?.text !== fact) throw new Error("not found");
});
const blobId = await step("the blob is stored", () =>
  until(async () => {
    const { status, blob_id, error } = await client.job(accepted.job_id);
    if (status === "failed") throw new Error(error ?? "failed");
    return status === "done" ? blob_id : undefined;
  }), (id) => id ?? "");
if (values.aggregator !== undefined) {
  await step("an aggregator has it", () =>
    until(async () => {
      const kind = blobId!.length > 43 ? "by-quilt-patch-id/" : "";
      const response = await fetch(`${values.aggregator}/v1/blobs/${kind}${blobId}`);
      const bytes = await response.bytes();
      return response.ok ? bytes.length : undefined;
    }), (length) => `${length} bytes`);
}
await step("a restore finds it", () => client.restore(namespace, 0), ({ total }) => `${total}`);
await step("delete", () => client.deleteMemory(accepted.memory_id), ({ blob = "" }) => blob);
await step("recall finds nothing", async () => {
  if ((await client.recall(fact, { namespace })).total > 0) throw new Error("still there");
});
say("everything worked");
