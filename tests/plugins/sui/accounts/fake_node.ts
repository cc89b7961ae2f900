import { bcs } from "@mysten/sui/bcs";
import { GrpcTypes as G } from "@mysten/sui/grpc";
import {
  accountObjectOf,
  accountType,
  delegateFieldId,
  ownerFieldId,
  PERMISSION_BITS,
} from "../../../../plugins/sui/chain/account_object.ts";
import type { Permission } from "../../../../src/interfaces/mod.ts";
import { addressOf } from "../../../../src/wire/keys.ts";

/** An address or id out of one digit. */
export const id = (digit: string): string => "0x" + digit.repeat(64);

/** The contract of these tests. */
export const CONTRACT = { packageId: id("a"), registryId: id("b") };

/** `OwnerKind` of sui.rpc.v2. */
export const OWNED = 1;
export const OBJECT = 2;
export const SHARED = 3;

/** What an account is made of; everything has a valid default. */
export interface AccountParts {
  readonly id: string;
  readonly owner?: string;
  readonly keys?: readonly {
    readonly publicKey: string;
    readonly permissions?: readonly Permission[];
    readonly expiresAt?: bigint;
    readonly label?: string;
    readonly createdAt?: number;
    readonly namespaces?: readonly string[];
  }[];
  readonly active?: boolean;
  readonly version?: number;
  readonly generation?: number;
}

/** Content of an account's object. */
export function accountContent(parts: AccountParts): Uint8Array {
  const version = parts.version ?? 2;
  return accountObjectOf(BigInt(version)).serialize({
    id: parts.id,
    version,
    owner: parts.owner ?? id("1"),
    pending_owner: null,
    delegate_keys: (parts.keys ?? []).map((key) => ({
      public_key: Uint8Array.fromHex(key.publicKey),
      sui_address: addressOf(key.publicKey),
      label: key.label ?? "Laptop",
      permissions: (key.permissions ?? ["read", "write"])
        .reduce((sum, name) => sum | PERMISSION_BITS[name], 0),
      created_at: key.createdAt ?? 1_700_000_000_000,
      expires_at: key.expiresAt ?? 0n,
      since_generation: 1,
      namespaces: [...key.namespaces ?? []],
    })),
    created_at: 1_700_000_000_000n,
    active: parts.active ?? true,
    generation: parts.generation ?? 1,
  }).toBytes();
}

/** An account as a node tells of it. */
export function accountObject(parts: AccountParts): G.Object {
  return G.Object.create({
    objectId: parts.id,
    objectType: accountType(CONTRACT.packageId),
    owner: { kind: SHARED, version: 3n },
    contents: { value: accountContent(parts) },
  });
}

/** The registry's field that names a key's account. */
export function keyFieldObject(publicKey: string, accountId: string): G.Object {
  const fieldId = delegateFieldId(CONTRACT.registryId, CONTRACT.packageId, publicKey);
  const name = bcs.byteVector().serialize(Uint8Array.fromHex(publicKey)).toBytes();
  return fieldObject(fieldId, "DelegateIndex", name, accountId);
}

/** The registry's field that names an owner's account. */
export function ownerFieldObject(owner: string, accountId: string): G.Object {
  const fieldId = ownerFieldId(CONTRACT.registryId, CONTRACT.packageId, owner);
  return fieldObject(fieldId, "OwnerKey", Uint8Array.fromHex(owner.slice(2)), accountId);
}

function fieldObject(fieldId: string, name: string, key: Uint8Array, value: string): G.Object {
  return G.Object.create({
    objectId: fieldId,
    objectType:
      `0x2::dynamic_field::Field<${CONTRACT.packageId}::account::${name}, 0x2::object::ID>`,
    owner: { kind: OBJECT, address: CONTRACT.registryId },
    contents: {
      value: new Uint8Array([
        ...Uint8Array.fromHex(fieldId.slice(2)),
        ...key,
        ...Uint8Array.fromHex(value.slice(2)),
      ]),
    },
  });
}

/** A gRPC-web message or trailer. */
export function frame(flag: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const framed = new Uint8Array(5 + bytes.length);
  framed[0] = flag;
  new DataView(framed.buffer).setUint32(1, bytes.length);
  framed.set(bytes, 5);
  return framed;
}

const trailer = (code: number) => frame(0x80, new TextEncoder().encode(`grpc-status:${code}\r\n`));

function answer(parts: readonly Uint8Array<ArrayBuffer>[]): Response {
  return new Response(new Blob([...parts]), {
    headers: { "content-type": "application/grpc-web+proto" },
  });
}

/** A node over gRPC-web that answers what a test says, true or not. */
export class FakeNode implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #closed = Promise.withResolvers<void>();
  readonly #streams = new Set<ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>>();
  readonly #ledger: G.Event[] = [];
  #news = Promise.withResolvers<void>();
  /** Objects by id. */
  readonly objects = new Map<string, G.Object>();
  /** Ids of every batch that was asked for. */
  readonly batches: string[][] = [];
  /** Names of the methods called. */
  readonly methods: string[] = [];
  /** Changes an answer before it is sent. */
  lie: (response: G.BatchGetObjectsResponse) => void = () => {};
  /** Awaited before an answer to a read is sent. */
  gate: Promise<void> = Promise.resolve();
  /** Never answers. */
  hangs = false;
  /** Answers with this status of HTTP. */
  status: number | undefined;
  /** Methods it does not know. */
  missing: string[] = [];
  /** Port it listens at. */
  readonly port: number;

  constructor(port = 0) {
    const options = { hostname: "127.0.0.1", port, onListen() {} };
    this.#server = Deno.serve(options, (request) => this.#serve(request));
    this.port = this.#server.addr.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Open subscriptions. */
  get subscribers(): number {
    return this.#streams.size;
  }

  /** Puts an account, its keys' fields and its owner's on chain. */
  put(parts: AccountParts): void {
    const account = accountObject(parts);
    const fields = (parts.keys ?? []).map(({ publicKey }) => keyFieldObject(publicKey, parts.id));
    const owner = ownerFieldObject(parts.owner ?? id("1"), parts.id);
    for (const object of [account, owner, ...fields]) this.objects.set(object.objectId!, object);
  }

  /** Emits an event of the account module. */
  emit(accountId: string, type = `${CONTRACT.packageId}::account::KeyRemoved`): void {
    const value = Uint8Array.fromHex(accountId.slice(2));
    const event = G.Event.create({ eventType: type, contents: { value } });
    this.#ledger.push(event);
    this.#push(G.SubscribeEventsResponse.create({ event }));
  }

  /** Sends what a node sends where nothing has happened. */
  progress(): void {
    this.#push(G.SubscribeEventsResponse.create({ watermark: { checkpoint: 9n } }));
  }

  /** Sends bytes to the subscribers. */
  send(bytes: Uint8Array<ArrayBuffer>): void {
    for (const stream of this.#streams) stream.enqueue(bytes);
  }

  /** Ends the subscriptions. */
  cut(): void {
    for (const stream of this.#streams) stream.close();
    this.#streams.clear();
  }

  /** Waits until a call, or a batch that is not answered yet, makes it true. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await this.#news.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.resolve();
    this.cut();
    await this.#server.shutdown();
  }

  #push(response: G.SubscribeEventsResponse): void {
    this.send(frame(0, G.SubscribeEventsResponse.toBinary(response)));
  }

  #called(method: string): void {
    this.methods.push(method);
    this.#notify();
  }

  #notify(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers<void>();
  }

  async #serve(request: Request): Promise<Response> {
    const body = new Uint8Array(await request.arrayBuffer()).subarray(5);
    const method = new URL(request.url).pathname.split("/").pop() ?? "";
    if (this.hangs) {
      this.#called(method);
      await this.#closed.promise;
    }
    if (this.status !== undefined) {
      this.#called(method);
      return new Response("10.1.2.3 is broken", { status: this.status });
    }
    try {
      return await this.#answer(method, body);
    } finally {
      this.#called(method);
    }
  }

  async #answer(method: string, body: Uint8Array): Promise<Response> {
    if (this.missing.includes(method)) return answer([trailer(12)]);
    switch (method) {
      case "BatchGetObjects": {
        const bytes = G.BatchGetObjectsResponse.toBinary(this.#objects(body));
        await this.gate;
        return answer([frame(0, bytes), trailer(0)]);
      }
      case "GetServiceInfo": {
        const info = { checkpointHeight: BigInt(this.#ledger.length) };
        return answer([frame(0, G.GetServiceInfoResponse.toBinary(info)), trailer(0)]);
      }
      case "ListEvents":
        return answer([...this.#listed(body), trailer(0)]);
      case "SubscribeEvents":
        return this.#subscribed();
      default:
        return answer([trailer(12)]);
    }
  }

  #objects(body: Uint8Array): G.BatchGetObjectsResponse {
    const ids = G.BatchGetObjectsRequest.fromBinary(body).requests.map((one) => one.objectId!);
    this.batches.push(ids);
    this.#notify();
    const response = G.BatchGetObjectsResponse.create({
      objects: ids.map((asked) => {
        const object = this.objects.get(asked);
        return object === undefined
          ? { result: { oneofKind: "error", error: { code: 5, message: "no", details: [] } } }
          : { result: { oneofKind: "object", object } };
      }),
    });
    this.lie(response);
    return response;
  }

  /** Each event is a checkpoint of its own, and a page has two. */
  #listed(body: Uint8Array): Uint8Array<ArrayBuffer>[] {
    const { options, startCheckpoint } = G.ListEventsRequest.fromBinary(body);
    const after = options?.after;
    const start = after === undefined ? Number(startCheckpoint ?? 0n) : after[0]!;
    const page = this.#ledger.slice(start, start + 2);
    const frames = page.map((event, index): G.ListEventsResponse => ({
      event,
      watermark: { cursor: new Uint8Array([start + index + 1]) },
    }));
    const more = this.#ledger.length > start + 2;
    if (more) frames[1]!.end = { reason: G.QueryEndReason.ITEM_LIMIT };
    else {
      frames.push({
        watermark: { cursor: new Uint8Array([this.#ledger.length]) },
        end: { reason: G.QueryEndReason.LEDGER_TIP },
      });
    }
    return frames.map((one) => frame(0, G.ListEventsResponse.toBinary(one)));
  }

  #subscribed(): Response {
    let own: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
    const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => {
        own = controller;
        this.#streams.add(controller);
      },
      cancel: () => {
        this.#streams.delete(own);
        this.#called("left");
      },
    });
    return new Response(stream, { headers: { "content-type": "application/grpc-web+proto" } });
  }
}
