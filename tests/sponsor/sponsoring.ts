import { DEFAULT_CONFIG, type SponsorConfig } from "../../src/interfaces/config.ts";
import { type Answer, startRelayer, TestClock, type TestRelayer } from "../relayer_fixture.ts";
import { FakeSponsor } from "./fake_sponsor.ts";
import { kind, PACKAGE, SENDER } from "./kinds.ts";

/** Noon of a day in UTC. */
export const NOON = Date.UTC(2026, 10, 21, 12);

/** A relayer with a sponsor, and its clock, which stands still. */
export interface Sponsoring extends AsyncDisposable {
  readonly svc: TestRelayer;
  readonly sponsor: FakeSponsor;
  readonly clock: TestClock;
  /** `POST /sponsor`. */
  ask(body?: Record<string, unknown>, peer?: string): Promise<Answer>;
  /** `POST /sponsor/execute`. */
  execute(digest: string, body?: Record<string, unknown>, peer?: string): Promise<Answer>;
}

/** Limits that stand in nobody's way. */
export const GENEROUS: SponsorConfig = {
  ...DEFAULT_CONFIG.sponsor,
  perMinute: 100_000,
  perHour: 100_000,
};

/** A signature's bytes, in base64; nobody here verifies them. */
export function signature(first = 0, length = 97): string {
  return new Uint8Array(length).fill(first, 0, 1).toBase64();
}

/** Starts it; with a folder what is sponsored outlives it. */
export async function sponsoring(
  options: {
    readonly limits?: Partial<SponsorConfig>;
    readonly dataDir?: string;
    readonly clock?: TestClock;
    readonly sponsor?: FakeSponsor;
  } = {},
): Promise<Sponsoring> {
  const { dataDir, sponsor = new FakeSponsor() } = options;
  const clock = options.clock ?? new TestClock();
  if (options.clock === undefined) clock.freeze(NOON);
  const svc = await startRelayer({
    clock,
    backends: { sponsor },
    config: { packageId: PACKAGE, sponsor: { ...GENEROUS, ...options.limits } },
    ...(dataDir === undefined ? {} : { dataDir, relayerKey: new Uint8Array(32).fill(7) }),
  });
  const post = (path: string, body: unknown, peer?: string) =>
    svc.plain("POST", path, body, peer === undefined ? {} : { peer });
  return {
    svc,
    sponsor,
    clock,
    ask: (body = {}, peer) =>
      post("/sponsor", {
        sender: SENDER,
        transactionBlockKindBytes: kind().toBase64(),
        ...body,
      }, peer),
    execute: (digest, body = {}, peer) =>
      post("/sponsor/execute", { digest, signature: signature(), ...body }, peer),
    [Symbol.asyncDispose]: () => svc[Symbol.asyncDispose](),
  };
}
