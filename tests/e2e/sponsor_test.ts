import assert from "node:assert/strict";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import type { Transaction } from "@mysten/sui/transactions";
import { type Devnet, startDevnet } from "../../devnet/mod.ts";
import {
  AccountObject,
  ownerFieldId,
  parseAccount,
} from "../../plugins/sui/chain/account_object.ts";
import {
  addDelegateKey,
  createAccount,
  setAccountActive,
} from "../../plugins/sui/accounts/transactions.ts";
import { keyProofText } from "../../src/wire/signing/signing.ts";
import { offerOwnership } from "../plugins/sui/accounts/contract_calls.ts";
import { inHome, Program, relayerEnv } from "../program.ts";
import { TestKey } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { poll } from "../within.ts";

/** The settings of a program that sponsors on a devnet; everything else is embedded. */
function settings(devnet: Devnet, home: string): Record<string, string> {
  const all = devnet.settings();
  const names = [
    "SVC_SUI_NETWORK",
    "SVC_SUI_RPC_URL",
    "SVC_PACKAGE_ID",
    "SVC_REGISTRY_ID",
    "SVC_SPONSOR",
    "SVC_SPONSOR_PRIVATE_KEY",
  ];
  return {
    ...relayerEnv(home),
    ...Object.fromEntries(names.map((name) => [name, all[name] ?? ""])),
    SVC_ACCOUNTS: "local",
    SVC_SPONSOR_PER_MINUTE: "1000",
    SVC_SPONSOR_PER_HOUR: "1000",
  };
}

/** A wallet that owns nothing, and a relayer that pays for it. */
class PoorWallet {
  readonly keypair = new Ed25519Keypair();
  readonly #url: string;
  readonly #client: SuiGrpcClient;

  constructor(url: string, client: SuiGrpcClient) {
    this.#url = url;
    this.#client = client;
  }

  async post(path: string, body: unknown) {
    const response = await fetch(this.#url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  }

  async ask(transaction: Transaction) {
    const kind = await transaction.build({ client: this.#client, onlyTransactionKind: true });
    return await this.post("/sponsor", {
      sender: this.keypair.toSuiAddress(),
      transactionBlockKindBytes: kind.toBase64(),
    });
  }

  async sign(bytes: string): Promise<string> {
    return (await this.keypair.signTransaction(Uint8Array.fromBase64(bytes))).signature;
  }

  /** Through both routes; answers the digest. */
  async send(transaction: Transaction): Promise<string> {
    const asked = await this.ask(transaction);
    assert.equal(asked.status, 200, JSON.stringify(asked.body));
    const { bytes, digest } = asked.body;
    const signature = await this.sign(bytes);
    const sent = await this.post("/sponsor/execute", { digest, signature });
    assert.deepEqual(sent, { status: 200, body: { digest } });
    return digest;
  }
}

Deno.test("a wallet without gas creates its account and adds a key", async () => {
  verifies("1-5", "9.1-2", "15-28");
  await using devnet = await startDevnet();
  await inHome(async (home) => {
    const env = settings(devnet, home);
    await using program = new Program(["start"], env);
    const pids: Record<string, number> = {};
    // In whatever order they come.
    for (let n = 0; n < 2; n++) {
      const { process, pid } = await program.event("child process started");
      pids[String(process)] = Number(pid);
    }
    const { port } = await program.event("listening");
    const url = `http://127.0.0.1:${port}`;
    const client = new SuiGrpcClient({ network: "localnet", transport: devnet.transport() });
    const wallet = new PoorWallet(url, client);
    const address = wallet.keypair.toSuiAddress();
    const { packageId, registryId } = devnet;
    const deployment = { packageId, registry: registryId };

    // The sidecar listens a moment after the relayer.
    await poll(() => wallet.ask(createAccount(deployment)), ({ status }) => status === 200);
    await wallet.send(createAccount(deployment));
    const field = devnet.chain.object(ownerFieldId(registryId, packageId, address));
    const accountId = `0x${field!.bcs.slice(-32).toHex()}`;
    const key = new TestKey();
    await wallet.send(addDelegateKey(deployment, accountId, {
      publicKey: key.publicKey,
      proof: key.sign(keyProofText(accountId)),
      permissions: ["read", "write"],
      label: "laptop",
    }));
    const account = parseAccount(devnet.chain.object(accountId)!.bcs);
    assert.equal(account.owner, address);
    assert.deepEqual(account.keys.map(({ publicKey, label }) => [publicKey, label]), [
      [key.publicKey, "laptop"],
    ]);
    assert.equal(devnet.chain.balanceOf(address, "0x2::sui::SUI"), 0n);
    assert.equal(AccountObject.parse(devnet.chain.object(accountId)!.bcs).generation, "1");

    // Ownership is nobody's to sponsor.
    const refused = await wallet.ask(offerOwnership(deployment, accountId, `0x${"1".repeat(64)}`));
    assert.deepEqual([refused.status, refused.body.code], [403, "move_call_not_allowed"]);

    // Only the sidecar has the key, and may reach the chain.
    const rpcHost = new URL(devnet.rpcUrl).host;
    const commandLine = (pid: number) => Deno.readTextFile(`/proc/${pid}/cmdline`);
    assert.ok((await commandLine(pids["sidecar"]!)).includes(rpcHost));
    assert.ok(!(await commandLine(pids["relayer"]!)).includes(rpcHost));
    for (const pid of Object.values(pids)) {
      const environment = await Deno.readTextFile(`/proc/${pid}/environ`);
      assert.ok(!environment.includes(env["SVC_SPONSOR_PRIVATE_KEY"]!));
    }

    // A sidecar that is killed forgets what nobody executed, and nothing else.
    const open = await wallet.ask(setAccountActive(deployment, accountId, false));
    const { bytes, digest } = open.body;
    const body = { digest, signature: await wallet.sign(bytes) };
    Deno.kill(pids["sidecar"]!, "SIGKILL");
    const gone = await poll(
      () => wallet.post("/sponsor/execute", body),
      ({ status }) => status !== 502,
    );
    assert.deepEqual([gone.status, gone.body.code], [404, "sponsorship_not_found"]);
    await wallet.send(setAccountActive(deployment, accountId, false));
    assert.equal(parseAccount(devnet.chain.object(accountId)!.bcs).active, false);
    const health = await (await fetch(`${url}/health`)).json();
    assert.equal(health.dependencies.sponsor.status, "ok");
    assert.equal(
      devnet.chain.ledger.records.filter(({ success }) => !success).length,
      0,
      "nothing failed on chain",
    );
    program.kill("SIGTERM");
    assert.equal(await program.end(), 0);
    assert.ok(!program.errors.join("\n").includes(env["SVC_SPONSOR_PRIVATE_KEY"]!));
  });
});

Deno.test("a sponsor without its key stops the start", async () => {
  await inHome(async (home) => {
    for (
      const [sponsor, name] of [
        ["gas-station", "SVC_SPONSOR_PRIVATE_KEY"],
        ["enoki", "SVC_ENOKI_API_KEY"],
      ] as const
    ) {
      const env = { ...relayerEnv(home), SVC_SPONSOR: sponsor };
      await using program = new Program(["start"], env);
      assert.equal(await program.end(), 78);
      assert.match(program.errors.join("\n"), new RegExp(`${name} is needed`));
    }
  });
});
