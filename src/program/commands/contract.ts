import { SvcError } from "../../errors.ts";
import { compileContract, readContract } from "./contract_compiler.ts";
import {
  CONTRACT_USAGE,
  type ContractOptions,
  type ContractTarget,
  contractTarget,
  parseContractOptions,
  walletSeed,
} from "./contract_options.ts";
import {
  type Difference,
  printDifferences,
  printReport,
  type PublishedPackage,
} from "./contract_output.ts";
import { type CommandIo, runGroup } from "./io.ts";

export interface Publisher {
  /** Compares what modules import with the chain. */
  check(modules: readonly Uint8Array[]): Promise<{
    readonly checked: number;
    readonly differences: readonly Difference[];
  }>;
  /** Publishes once, and waits for it. */
  publish(publication: {
    readonly modules: readonly Uint8Array[];
    readonly dependencies: readonly string[];
    readonly seed: Uint8Array;
    readonly burnUpgradeCap: boolean;
    /** Is told the digest of the transaction before it is sent. */
    readonly announce?: (digest: string) => void;
  }): Promise<PublishedPackage>;
}

export type OpenPublisher = (target: ContractTarget) => Promise<Publisher>;

/** A computed specifier, so that other commands do not download the chain's packages. */
const PUBLISHER = new URL("../../../plugins/sui/chain/contract/publisher.ts", import.meta.url).href;

const CONTRACTS = new URL("../../../contracts/", import.meta.url);

async function openChain({ network, rpcUrl }: ContractTarget): Promise<Publisher> {
  const { openPublisher } = await import(PUBLISHER) as {
    openPublisher(network: string, rpcUrl: string): Publisher;
  };
  return openPublisher(network, rpcUrl);
}

/** The chain's framework is not the one that the contract was compiled against. */
class FrameworkDiffers extends SvcError {
  readonly differences: readonly Difference[];
  constructor(differences: readonly Difference[]) {
    super(
      "invalid_transaction",
      "The network's framework is not the one that the contract needs; nothing was published",
    );
    this.differences = differences;
  }
}

async function publish(
  options: ContractOptions,
  io: CommandIo,
  open: OpenPublisher,
): Promise<string> {
  const target = contractTarget(io.env);
  // Read first: a missing key should not be reported after the whole compilation.
  const seed = options.dryRun ? undefined : await walletSeed(options, io.env, io.cwd);
  const { modules, dependencies, digest } = await compileContract(await readContract(CONTRACTS));
  const publisher = await open(target);
  const { checked, differences } = await publisher.check(modules);
  if (differences.length > 0) throw new FrameworkDiffers(differences);
  const { burnUpgradeCap } = options;
  // Told before it is sent, so that a publication can be looked up after an interruption.
  const announce = (transaction: string) => {
    if (!options.json) io.writeError(`Sending transaction ${transaction}\n`);
  };
  const published = seed === undefined
    ? undefined
    : await publisher.publish({ modules, dependencies, seed, burnUpgradeCap, announce });
  const report = {
    network: target.network,
    packageDigest: digest,
    moduleBytes: modules.map((module) => module.length),
    checked,
  };
  return printReport(report, published, options.json);
}

function details(thrown: unknown) {
  if (!(thrown instanceof FrameworkDiffers)) return undefined;
  const differences = thrown.differences.map(({ target, expected, found }) => ({
    function: target,
    expected,
    found: found ?? null,
  }));
  return { text: printDifferences(thrown.differences), members: { differences } };
}

/**
 * Runs `contract …`: compiles the Move package beside this program, checks it against a network and
 * publishes it there.
 *
 * @param args What follows `contract`.
 * @param open What reaches the chain; the settings' node when absent.
 * @returns the exit code: 0 success, 1 error, 2 usage.
 */
export async function runContract(
  args: readonly string[],
  io: CommandIo,
  open: OpenPublisher = openChain,
): Promise<number> {
  const run = async () => io.write(await publish(parseContractOptions(args), io, open));
  return await runGroup({ usage: CONTRACT_USAGE, run, details }, args, io);
}
