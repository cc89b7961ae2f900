import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Json } from "../relayer_fixture.ts";

/** What an app keeps, as the SDK asks for it; where a browser would open, the address is noted. */
export class Provider {
  readonly clientMetadata: Json;
  readonly clientMetadataUrl?: string;
  registered: Json;
  kept: Json;
  discovered: Json;
  verifier = "";
  asked: URL | undefined;

  constructor(readonly redirectUrl: string, name: string, metadataUrl?: string) {
    this.clientMetadata = { client_name: name, redirect_uris: [redirectUrl] };
    if (metadataUrl !== undefined) this.clientMetadataUrl = metadataUrl;
  }

  state(): string {
    return "state-of-the-app";
  }

  clientInformation(): Json {
    return this.registered;
  }

  saveClientInformation(information: Json): void {
    this.registered = information;
  }

  tokens(): Json {
    return this.kept;
  }

  saveTokens(tokens: Json): void {
    this.kept = tokens;
  }

  redirectToAuthorization(url: URL): void {
    this.asked = url;
  }

  saveDiscoveryState(state: Json): void {
    this.discovered = state;
  }

  discoveryState(): Json {
    return this.discovered;
  }

  invalidateCredentials(): void {
    this.kept = undefined;
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.verifier;
  }
}

/** An app on one of the official libraries. */
export interface App {
  readonly provider: Provider;
  /** Connects by the address alone; `false` where a person is asked first. */
  connect(): Promise<boolean>;
  /** Takes what the browser came back with. */
  finish(callback: URLSearchParams): Promise<void>;
  call(name: string, args: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

const isUnauthorized = (error: unknown) =>
  error instanceof Error && error.constructor.name === "UnauthorizedError";

function appOf(
  provider: Provider,
  make: () => { client: Json; transport: Json },
  finish: (transport: Json, callback: URLSearchParams) => Promise<void>,
): App {
  let { client, transport } = make();
  return {
    provider,
    async connect() {
      try {
        await client.connect(transport);
        return true;
      } catch (error) {
        if (!isUnauthorized(error)) throw error;
        return false;
      }
    },
    async finish(callback) {
      await finish(transport, callback);
      ({ client, transport } = make());
    },
    call: async (name, args) => JSON.stringify(await client.callTool({ name, arguments: args })),
    close: () => client.close(),
  };
}

/** An app on the library's first version. */
export function appV1(address: string, provider: Provider): App {
  return appOf(provider, () => ({
    client: new ClientV1({ name: "v1", version: "1" }),
    transport: new TransportV1(new URL(address), { authProvider: provider }),
  }), (transport, callback) => transport.finishAuth(callback.get("code")));
}

/** An app on its second version. */
export function appV2(address: string, provider: Provider): App {
  return appOf(provider, () => ({
    client: new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode: "auto" } }),
    transport: new StreamableHTTPClientTransport(new URL(address), { authProvider: provider }),
  }), (transport, callback) => transport.finishAuth(callback));
}

export const APPS = { v1: appV1, v2: appV2 } as const;

/** Where the browser comes back to, on a port of this machine. */
export function callbackServer(): AsyncDisposable & {
  readonly url: string;
  readonly called: Promise<URLSearchParams>;
} {
  const { promise, resolve } = Promise.withResolvers<URLSearchParams>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/callback") resolve(searchParams);
    return new Response("Back in the app");
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/callback`,
    called: promise,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
