import { memoryState } from "../../../plugins/memory/state_store.ts";
import type { RelayerConfig } from "../../../src/interfaces/config.ts";
import type { Backends, StateStore } from "../../../src/interfaces/mod.ts";
import { startRelayer, testBackends, TestClock, type TestRelayer } from "../../relayer_fixture.ts";

/** Relayers in this process that share everything, as several machines would. */
export async function* relayersOn(
  stores: readonly StateStore[],
  config: Partial<RelayerConfig> = {},
  others: Partial<Backends> = {},
): AsyncGenerator<TestRelayer> {
  const clock = new TestClock();
  const backends = await testBackends(clock, { ...others, store: stores[0]! });
  let existing: Pick<TestRelayer, "key" | "account"> | undefined;
  for (const store of stores) {
    const relayer = await startRelayer({
      clock,
      backends: { ...backends, store },
      relayerKey: new Uint8Array(32).fill(7),
      config,
      ...(existing === undefined ? {} : { existing }),
    });
    existing ??= relayer;
    yield relayer;
  }
}

/** What a test of several relayers is given. */
type Body = (relayers: readonly TestRelayer[], stores: readonly StateStore[]) => Promise<void>;

/** A test with as many relayers as are asked for. */
export function withRelayers(
  name: string,
  { count, config = {}, backends = {} }: {
    readonly count: number;
    readonly config?: Partial<RelayerConfig>;
    readonly backends?: Partial<Backends>;
  },
  body: Body,
): void {
  Deno.test(name, async () => {
    await using state = memoryState();
    const stores = Array.from({ length: count }, () => state.open());
    const relayers = await Array.fromAsync(relayersOn(stores, config, backends));
    // The backends belong to all: they end with the last one.
    await using ending = new AsyncDisposableStack();
    ending.use(relayers.at(-1)!);
    for (const { relayer } of relayers.slice(0, -1)) ending.use(relayer);
    await body(relayers, stores);
  });
}

/** A test with two relayers. */
export function withTwo(
  name: string,
  body: (one: TestRelayer, two: TestRelayer, stores: readonly StateStore[]) => Promise<void>,
): void {
  withRelayers(name, { count: 2 }, ([one, two], stores) => body(one!, two!, stores));
}
