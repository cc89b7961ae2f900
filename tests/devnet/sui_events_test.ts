import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import type { Devnet } from "../../devnet/mod.ts";
import {
  addKeyCall,
  clientOf,
  createAccount,
  keypair,
  ROUTES,
  send,
  startWithOwner,
} from "./devnet_fixture.ts";

const READ_MASK = { paths: ["event_type", "contents", "checkpoint", "transaction_digest"] };

function moduleFilter(devnet: Devnet) {
  const emitModule = { module: `${devnet.packageId}::account` };
  const predicate = { oneofKind: "emitModule" as const, emitModule };
  return { terms: [{ literals: [{ negated: false, predicate }] }] };
}

/** The events of a subscription; resolves once the stream has begun. */
async function subscribe(client: SuiGrpcClient, devnet: Devnet, abort: AbortSignal) {
  const call = client.subscriptionService.subscribeEvents(
    { readMask: READ_MASK, filter: moduleFilter(devnet) },
    { abort },
  );
  const frames = call.responses[Symbol.asyncIterator]();
  const first = await frames.next();
  ok(first.value?.watermark?.cursor);
  return { frames, ended: Promise.allSettled([call.status, call.trailers, call.headers]) };
}

for (const route of ROUTES) {
  Deno.test(`events are pushed to a subscriber, ${route}`, async () => {
    const { devnet, owner } = await startWithOwner();
    await using _ = devnet;
    const client = clientOf(devnet, route);
    const { frames, ended } = await subscribe(client, devnet, new AbortController().signal);
    await createAccount(client, devnet, owner);
    const { value } = await frames.next();
    strictEqual(value?.event?.eventType, `${devnet.packageId}::account::AccountCreated`);
    strictEqual(value?.event?.transactionDigest, devnet.chain.transactions.at(-1)?.digest);
    const next = frames.next();
    devnet.node.dropStreams();
    await rejects(next);
    await ended;
  });

  Deno.test(`a node that goes down ends its streams, ${route}`, async () => {
    const { devnet } = await startWithOwner();
    await using _ = devnet;
    const client = clientOf(devnet, route);
    const { frames, ended } = await subscribe(client, devnet, new AbortController().signal);
    const next = frames.next();
    devnet.faults.set("chain", { kind: "down" });
    await rejects(next);
    await ended;
  });
}

Deno.test("a subscriber that leaves ends its stream", async () => {
  const { devnet } = await startWithOwner();
  await using _ = devnet;
  const abort = new AbortController();
  const { frames, ended } = await subscribe(clientOf(devnet), devnet, abort.signal);
  const next = frames.next();
  abort.abort();
  await rejects(next);
  await ended;
});

Deno.test("events are listed in pages, by type, forwards and backwards", async () => {
  const { devnet, owner } = await startWithOwner();
  await using _ = devnet;
  const client = clientOf(devnet);
  const accountId = await createAccount(client, devnet, owner);
  for (let number = 10; number < 15; number++) {
    await send(client, owner, await addKeyCall(devnet, accountId, keypair(number)));
  }
  const filter = { eventType: `${devnet.packageId}::account::KeyAdded` };
  const seen: string[] = [];
  let after: string | null = null;
  for (let more = true; more;) {
    const page: Awaited<ReturnType<SuiGrpcClient["listEvents"]>> = await client.listEvents({
      filter,
      limit: 2,
      ...(after === null ? {} : { after }),
    });
    seen.push(...page.events.map(({ transactionDigest }) => transactionDigest));
    after = page.endCursor;
    more = page.hasNextPage;
  }
  const all = devnet.chain.transactions.slice(-5).map(({ digest }) => digest);
  deepStrictEqual(seen, all);
  const last = await client.listEvents({ filter, limit: 1, order: "descending" });
  deepStrictEqual(last.events.map(({ transactionDigest }) => transactionDigest), all.slice(-1));
  const bySender = await client.listEvents({ filter: { sender: owner.toSuiAddress() } });
  strictEqual(bySender.events.length, 6);
});

Deno.test("a listing continues where a subscription stopped", async () => {
  const { devnet, owner } = await startWithOwner();
  await using _ = devnet;
  const client = clientOf(devnet);
  const { frames, ended } = await subscribe(client, devnet, new AbortController().signal);
  const accountId = await createAccount(client, devnet, owner);
  const created = await frames.next();
  devnet.node.dropStreams();
  await rejects(frames.next());
  await ended;
  await send(client, owner, await addKeyCall(devnet, accountId, keypair(2)));
  const cursor = created.value?.watermark?.cursor;
  const missed = await client.listEvents({ after: cursor?.toBase64() ?? "" });
  deepStrictEqual(missed.events.map(({ eventType }) => eventType.split("::").at(-1)), ["KeyAdded"]);
});

Deno.test("checkpoints are pushed without gaps", async () => {
  const { devnet, owner } = await startWithOwner();
  await using _ = devnet;
  const client = clientOf(devnet);
  const call = client.subscriptionService.subscribeCheckpoints({
    readMask: { paths: ["sequence_number"] },
  });
  const frames = call.responses[Symbol.asyncIterator]();
  const first = (await frames.next()).value?.cursor ?? 0n;
  await createAccount(client, devnet, owner);
  await devnet.fund(owner.toSuiAddress());
  strictEqual((await frames.next()).value?.cursor, first + 1n);
  strictEqual((await frames.next()).value?.checkpoint?.sequenceNumber, first + 2n);
  devnet.node.dropStreams();
  await Promise.allSettled([call.status, call.trailers, frames.next()]);
});
