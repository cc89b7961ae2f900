import { fileURLToPath } from "node:url";
import type { BlobStore } from "../../../src/interfaces/mod.ts";
import { blobStoreSuite, conform } from "../../../testing/mod.ts";
import { LOCKED } from "../../locked.ts";
import { ending, openOn, withJobIds } from "./on_server.ts";

const PROGRAM = fileURLToPath(new URL("s3rver.ts", import.meta.url));

/** A server that others wrote, in a process of its own, and a prefix of its own for each store. */
let server: { readonly child: Deno.ChildProcess; readonly endpoint: string } | undefined;
let folder = "";
let stores = 0;

Deno.test.beforeAll(async () => {
  folder = await Deno.makeTempDir();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...LOCKED, "--no-prompt", "-A", PROGRAM, folder],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  server = { child, endpoint: `http://127.0.0.1:${Number(new TextDecoder().decode(value))}` };
});

Deno.test.afterAll(async () => {
  server?.child.kill("SIGTERM");
  await server?.child.status;
  await Deno.remove(folder, { recursive: true });
});

async function onS3rver(): Promise<BlobStore> {
  const store = await openOn(server!, {
    id: "S3RVER",
    secret: "S3RVER",
    prefix: `${stores++}/`,
  });
  return ending(store, { [Symbol.asyncDispose]: () => Promise.resolve() });
}

conform(blobStoreSuite, "s3, on s3rver", onS3rver);
conform(
  blobStoreSuite,
  "s3, on s3rver, with ids of jobs",
  async () => withJobIds(await onS3rver()),
);
