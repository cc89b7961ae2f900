import { ok, strictEqual } from "node:assert/strict";
import { type Devnet, startDevnet } from "../../devnet/mod.ts";

async function put({ walrus }: Devnet, body: string, query: string): Promise<string> {
  const url = `${walrus.publisherUrl}/v1/blobs?${query}`;
  const response = await fetch(url, { method: "PUT", body });
  const result = await response.json();
  return result.newlyCreated?.blobObject.blobId ?? result.alreadyCertified?.blobId;
}

async function get({ walrus }: Devnet, blobId: string): Promise<string> {
  const response = await fetch(`${walrus.aggregatorUrls[0]}/v1/blobs/${blobId}`);
  return `${response.status} ${(await response.text()).slice(0, 5)}`;
}

async function firstRun(dataDir: string): Promise<string[]> {
  await using devnet = await startDevnet({ dataDir, keyServers: 1 });
  const kept = await put(devnet, "kept", "epochs=3&permanent=true");
  const short = await put(devnet, "short", "epochs=2");
  devnet.walrus.advanceEpoch();
  // Whatever transaction comes next takes the epoch to the file.
  await put(devnet, "other", "epochs=1");
  return [kept, short];
}

Deno.test("blobs and the epoch outlive a restart of the devnet", async () => {
  const dataDir = await Deno.makeTempDir();
  try {
    const [kept = "", short = ""] = await firstRun(dataDir);
    await using devnet = await startDevnet({ dataDir, keyServers: 1 });
    strictEqual(devnet.walrus.system.epoch, 2);
    strictEqual(await get(devnet, kept), "200 kept");
    strictEqual(await get(devnet, short), "200 short");
    strictEqual(await put(devnet, "kept", "epochs=2&permanent=true"), kept);
    strictEqual(devnet.walrus.storage.available(kept).length, 1, "stored once");
    devnet.walrus.advanceEpoch();
    strictEqual(await get(devnet, kept), "200 kept");
    ok((await get(devnet, short)).startsWith("404"));
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
