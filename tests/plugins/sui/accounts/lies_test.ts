import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import type { GrpcTypes as G } from "@mysten/sui/grpc";
import fc from "fast-check";
import { openSui } from "../../../../plugins/sui/chain/sui_client.ts";
import { SuiAccounts } from "../../../../plugins/sui/accounts/accounts.ts";
import { SvcError } from "../../../../src/errors.ts";
import type { Account } from "../../../../src/interfaces/mod.ts";
import {
  accountContent,
  accountObject,
  CONTRACT,
  FakeNode,
  id,
  keyFieldObject,
  OBJECT,
  OWNED,
  SHARED,
} from "./fake_node.ts";

const KEY = "3a".repeat(32);
const OTHER_KEY = "4b".repeat(32);
const ACCOUNT = { id: id("5"), keys: [{ publicKey: KEY }] };
const FIELD = keyFieldObject(KEY, ACCOUNT.id);

function open(node: FakeNode): SuiAccounts {
  const client = openSui({ network: "localnet", url: node.url });
  return new SuiAccounts({ client, ...CONTRACT });
}

/** What comes of a key and an id when an object on chain is another than it should be. */
async function readings(change: (object: G.Object) => void, changed: string = ACCOUNT.id) {
  await using node = new FakeNode();
  await using accounts = open(node);
  node.put(ACCOUNT);
  const object = structuredClone(node.objects.get(changed)!);
  change(object);
  node.objects.set(changed, object);
  const idOf = (account: Account | undefined) => account?.accountId;
  const codeOf = (error: SvcError) => error.code;
  return [
    await accounts.resolve(KEY).then(idOf, codeOf),
    await accounts.get(ACCOUNT.id).then(idOf, codeOf),
  ];
}

const content = (value: Uint8Array) => (object: G.Object) => object.contents = { value };
const type = (text: string | undefined) => (object: G.Object) => {
  if (text === undefined) delete object.objectType;
  else object.objectType = text;
};
const bytes = accountContent(ACCOUNT);

const NO_ACCOUNT: Readonly<Record<string, (object: G.Object) => void>> = {
  "of another package": type(`${id("c")}::account::SvcAccount`),
  "of another module": type(`${CONTRACT.packageId}::accounts::SvcAccount`),
  "of another name": type(`${CONTRACT.packageId}::account::SvcAccount2`),
  "of the type with parameters": type(`${CONTRACT.packageId}::account::SvcAccount<u8>`),
  "wrapped by another package": type(
    `${id("c")}::m::W<${CONTRACT.packageId}::account::SvcAccount>`,
  ),
  "a package": type("package"),
  "of a type that cannot be read": type("a<b::c<"),
  "of a version that is not known": content(accountContent({ ...ACCOUNT, version: 3 })),
  "of version 0": content(accountContent({ ...ACCOUNT, version: 0 })),
};

/** What no chain holds: nothing follows from it. */
const NO_OBJECT: Readonly<Record<string, (object: G.Object) => void>> = {
  "without a type": type(undefined),
  "owned by an address": (object) => object.owner = { kind: OWNED, address: id("1") },
  "owned by an object": (object) => object.owner = { kind: OBJECT, address: CONTRACT.registryId },
  "immutable": (object) => object.owner = { kind: 4 },
  "of an owner kind of the future": (object) => object.owner = { kind: 99 as 1 },
  "without an owner": (object) => delete object.owner,
  "under another id": (object) => object.objectId = id("6"),
  "under no id": (object) => delete object.objectId,
  "under an id that is none": (object) => object.objectId = "5",
  "with the content of another": content(accountContent({ ...ACCOUNT, id: id("6") })),
  "without content": (object) => delete object.contents,
  "with empty content": content(new Uint8Array()),
  "with content that ends early": content(bytes.subarray(0, -1)),
  "with content that goes on": content(new Uint8Array([...bytes, 0])),
  "with an endless list of keys": content(
    new Uint8Array([...bytes.subarray(0, 73), 255, 255, 255, 255, 15]),
  ),
};

for (const [name, change] of Object.entries(NO_ACCOUNT)) {
  Deno.test(`an object ${name} is no account`, async () => {
    deepStrictEqual(await readings(change), [undefined, undefined]);
  });
}

for (const [name, change] of Object.entries(NO_OBJECT)) {
  Deno.test(`an account ${name} is the node's fault`, async () => {
    deepStrictEqual(await readings(change), ["chain_unavailable", "chain_unavailable"]);
  });
}

Deno.test("what was an account and is something else is the node's fault", async () => {
  await using node = new FakeNode();
  await using accounts = open(node);
  node.put(ACCOUNT);
  strictEqual((await accounts.resolve(KEY))?.accountId, ACCOUNT.id);
  const object = structuredClone(node.objects.get(ACCOUNT.id)!);
  type(`${id("c")}::account::SvcAccount`)(object);
  node.objects.set(ACCOUNT.id, object);
  await rejects(accounts.resolve(KEY), { code: "chain_unavailable" });
  await rejects(accounts.get(ACCOUNT.id), { code: "chain_unavailable" });
});

const NO_FIELD: Readonly<Record<string, (object: G.Object) => void>> = {
  "of another package": type(FIELD.objectType!.replace(CONTRACT.packageId, id("c"))),
  "for owners": type(FIELD.objectType!.replace("DelegateIndex", "OwnerKey")),
  "with another value": type(FIELD.objectType!.replace("object::ID", "object::UID")),
  "of another parent": (object) => object.owner = { kind: OBJECT, address: id("c") },
  "owned by the registry's address": (object) =>
    object.owner = { kind: OWNED, address: CONTRACT.registryId },
  "that is shared": (object) => object.owner = { kind: SHARED, version: 1n },
  "under another id": (object) => object.objectId = id("6"),
  "of another key": content(keyFieldObject(OTHER_KEY, ACCOUNT.id).contents!.value!),
  "with content that ends early": content(FIELD.contents!.value!.subarray(0, -1)),
  "with content that goes on": content(new Uint8Array([...FIELD.contents!.value!, 0])),
};

for (const [name, change] of Object.entries(NO_FIELD)) {
  Deno.test(`a field ${name} is the node's fault`, async () => {
    deepStrictEqual(await readings(change, FIELD.objectId), ["chain_unavailable", ACCOUNT.id]);
  });
}

Deno.test("a field authenticates nobody whom the account does not list", async () => {
  await using node = new FakeNode();
  await using accounts = open(node);
  node.put(ACCOUNT);
  const field = keyFieldObject(OTHER_KEY, ACCOUNT.id);
  node.objects.set(field.objectId!, field);
  strictEqual(await accounts.resolve(OTHER_KEY), undefined);
  node.objects.delete(ACCOUNT.id);
  strictEqual(await accounts.resolve(KEY), undefined, "the account is gone, the field is left");
});

Deno.test("answers of another order or number authenticate nobody", async () => {
  await using node = new FakeNode();
  await using accounts = open(node);
  const second = { id: id("7"), owner: id("2"), keys: [{ publicKey: OTHER_KEY }] };
  node.put(ACCOUNT);
  node.put(second);
  node.lie = ({ objects }) => void objects.reverse();
  const both = () => Promise.allSettled([accounts.get(ACCOUNT.id), accounts.get(second.id)]);
  for (const answer of await both()) {
    ok(answer.status === "rejected" && answer.reason.code === "chain_unavailable");
  }
  for (
    const lie of [
      ({ objects }: G.BatchGetObjectsResponse) => void objects.pop(),
      ({ objects }: G.BatchGetObjectsResponse) => void objects.push(...objects),
    ]
  ) {
    node.lie = lie;
    for (const answer of await both()) {
      ok(answer.status === "rejected" && answer.reason.code === "chain_unavailable");
    }
  }
});

Deno.test("an object that the node has trouble with is not told to be missing", async () => {
  await using node = new FakeNode();
  await using accounts = open(node);
  node.put(ACCOUNT);
  const error = { code: 13, message: "10.1.2.3", details: [] };
  const nothing = { oneofKind: undefined } as const;
  for (const result of [{ oneofKind: "error", error } as const, nothing]) {
    node.lie = ({ objects }) => void (objects[0] = { result });
    const thrown = await accounts.get(ACCOUNT.id).catch((error) => error);
    ok(thrown instanceof SvcError && thrown.code === "chain_unavailable");
  }
});

Deno.test("whatever bytes stand for an account, only the account itself is believed", async () => {
  await using node = new FakeNode();
  await using accounts = open(node);
  node.put(ACCOUNT);
  const damage = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }));
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 4 }), async (changes) => {
      const value = bytes.slice();
      for (const [at, mask] of changes) value[at] = value[at]! ^ mask;
      node.objects.set(ACCOUNT.id, { ...accountObject(ACCOUNT), contents: { value } });
      const found = await accounts.get(ACCOUNT.id).catch((error: SvcError) => {
        strictEqual(error.code, "chain_unavailable");
      });
      if (found !== undefined) strictEqual(found.accountId, ACCOUNT.id);
    }),
    { numRuns: 300 },
  );
});

Deno.test("bytes that are no gRPC never crash", async () => {
  const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));
  const bodies = [
    new Uint8Array(),
    random(4),
    random(500),
    new Uint8Array([0, 255, 255, 255, 255]),
  ];
  for (const body of bodies) {
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      () => new Response(body, { headers: { "content-type": "application/grpc-web+proto" } }),
    );
    const url = `http://127.0.0.1:${server.addr.port}`;
    const client = openSui({ network: "localnet", url, maxBytes: 300, timeoutMs: 2_000 });
    await using accounts = new SuiAccounts({ client, ...CONTRACT });
    const thrown = await accounts.get(ACCOUNT.id).catch((error) => error);
    ok(thrown instanceof SvcError && thrown.code === "chain_unavailable");
    await server.shutdown();
  }
});

Deno.test("a redirect is not followed", async () => {
  let asked = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    asked++;
    return Response.redirect(request.url, 307);
  });
  const url = `http://127.0.0.1:${server.addr.port}`;
  await using accounts = new SuiAccounts({
    client: openSui({ network: "localnet", url }),
    ...CONTRACT,
  });
  const thrown = await accounts.get(ACCOUNT.id).catch((error) => error);
  ok(thrown instanceof SvcError && thrown.code === "chain_unavailable");
  strictEqual(asked, 1);
  await server.shutdown();
});
