import { Bridge, type BridgeOptions } from "../../../cli/bridge/bridge.ts";
import { openLoginRequests } from "../../../cli/login/mod.ts";
import { writeCredentials } from "../../../src/client/credentials_file.ts";
import { type Credentials, makeDelegateKey } from "../../../src/client/mod.ts";
import { createLogger } from "../../../src/log.ts";
import { IDS } from "../dashboard.ts";
import { HostPeer } from "./host_peer.ts";

/** Valid credentials of a new key. */
export async function newCredentials(
  relayerUrl: string,
  more: Partial<Credentials> = {},
): Promise<Credentials> {
  const pair = await makeDelegateKey();
  return {
    delegatePrivateKey: pair.privateKey,
    delegatePublicKeyHex: pair.publicKey,
    delegateAddress: pair.address,
    ...IDS,
    relayerUrl,
    createdAt: "2026-01-01T00:00:00.000Z",
    version: 1,
    ...more,
  };
}

/** A bridge in this process, and a host that talks to it. */
export interface RunningBridge extends AsyncDisposable {
  readonly host: HostPeer;
  /** The credentials file. */
  readonly path: string;
  /** What the log says, line by line. */
  readonly log: string[];
  /** Addresses that browsers were asked to open. */
  readonly opened: string[];
  /** Closes the host's end and waits for the bridge. */
  end(): Promise<void>;
}

/** What may be different in a test. */
export interface BridgeSetup extends Partial<BridgeOptions> {
  /** Saved before the start; `null` saves none. */
  readonly credentials: Credentials | null;
}

/** Starts a bridge. */
export async function startBridge(setup: BridgeSetup): Promise<RunningBridge> {
  const home = await Deno.makeTempDir();
  const path = `${home}/.svc/credentials.json`;
  if (setup.credentials !== null) await writeCredentials(path, setup.credentials);
  const input = new TransformStream<Uint8Array, Uint8Array>();
  const writer = input.writable.getWriter();
  let output!: ReadableStreamDefaultController<string>;
  const lines = new ReadableStream<string>({ start: (controller) => void (output = controller) });
  const log: string[] = [];
  const opened: string[] = [];
  const encoder = new TextEncoder();
  const host = new HostPeer((line) => writer.write(encoder.encode(line + "\n")), lines);
  const bridge = new Bridge({
    args: [],
    env: {},
    input: input.readable,
    write: (line) => output.enqueue(line),
    credentialsPath: path,
    openLogins: (credentialsPath) => openLoginRequests({ credentialsPath }),
    openBrowser: (url) => opened.push(url) > 0,
    version: "1.2.3",
    pause: () => Promise.resolve(),
    logger: createLogger({ level: "debug", format: "json", write: (line) => void log.push(line) }),
    ...setup,
  });
  const running = bridge.run().finally(() => output.close());
  let ended = false;
  const end = async (): Promise<void> => {
    if (!ended) await writer.close();
    ended = true;
    await running;
    await host.ended;
  };
  return {
    host,
    path,
    log,
    opened,
    end,
    [Symbol.asyncDispose]: async () => {
      await end();
      await Deno.remove(home, { recursive: true });
    },
  };
}
