import { SvcError } from "../../errors.ts";
import { LATER } from "../../later.ts";
import { compileContract, readContract } from "./contract_compiler.ts";
import {
  CONTRACT_USAGE,
  type ContractOptions,
  type ContractTarget,
  contractTarget,
  parseContractOptions,
  walletSeed,
} from "./contract_options.ts";
import { onOneLine } from "../../printable.ts";
import { type CommandIo, type Printed, runGroup } from "./io.ts";

/** An imported function that the chain does not have as the contract was compiled against it. */
interface Difference {
  /** `package::module::name`. */
  readonly target: string;
  readonly expected: string;
  /** The chain's; absent when there is no such function. */
  readonly found: string | undefined;
}

interface PublishedPackage {
  readonly packageId: string;
  readonly registryId: string;
  /** Id of the object that allows upgrades; absent when it was burned. */
  readonly upgradeCapId: string | undefined;
  readonly sender: string;
  readonly digest: string;
}

const short = (text: string) => text.replace(/0x0+(?=[12]::)/g, "0x");

function printDifferences(differences: readonly Difference[]): string {
  return differences.map(({ target, expected, found }) =>
    [
      `  ${short(target)}`,
      `    contract  ${short(expected)}`,
      `    network   ${found === undefined ? "has no such function" : short(onOneLine(found))}`,
    ].join("\n") + "\n"
  ).join("");
}

/** What a compilation and its comparison with the chain came to. */
type Build = { network: string; package_digest: string; module_bytes: number[]; checked: number };

function printReport(build: Build, published: PublishedPackage | undefined): Printed {
  const { network, package_digest, module_bytes, checked } = build;
  const answer = {
    network,
    package_digest,
    module_bytes,
    imports_checked: checked,
    published: published !== undefined,
  };
  const bytes = module_bytes.reduce((sum, size) => sum + size, 0);
  const lines = [
    published === undefined ? "Nothing was published" : "Contract published",
    `  network      ${network}`,
    `  digest       ${package_digest} (${module_bytes.length} modules, ${bytes} bytes)`,
    `  framework    ${checked} functions compared, none differs`,
  ];
  if (published === undefined) return [answer, lines.join("\n") + "\n"];
  const { digest, packageId, registryId, sender, upgradeCapId } = published;
  lines.push(
    `  paid by      ${sender}`,
    `  transaction  ${digest}`,
    `  upgrade cap  ${upgradeCapId ?? "burned: nobody can change the package"}`,
    "",
    `SVC_PACKAGE_ID=${packageId}`,
    `SVC_REGISTRY_ID=${registryId}`,
  );
  if (upgradeCapId !== undefined) {
    lines.push(
      "",
      "Whoever owns the upgrade cap can change the rules of every account, and so read every",
      "memory. Burn it with 0x2::package::make_immutable, or keep it where the most valuable keys",
      "are, such as a multisig address. docs/contract.md says more.",
    );
  }
  return [{
    ...answer,
    package_id: packageId,
    registry_id: registryId,
    upgrade_cap_id: upgradeCapId ?? null,
    sender,
    transaction: digest,
  }, lines.join("\n") + "\n"];
}

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

type OpenPublisher = (target: ContractTarget) => Promise<Publisher>;

const CONTRACTS = new URL("../../../contracts/", import.meta.url);

async function openChain({ network, rpcUrl }: ContractTarget): Promise<Publisher> {
  const module: { openPublisher(network: string, rpcUrl: string): Publisher } = await import(
    `../../../plugins/sui/chain/contract/publisher.ts${LATER}`
  );
  return module.openPublisher(network, rpcUrl);
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
): Promise<Printed> {
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
  const module_bytes = modules.map((module) => module.length);
  const build = { network: target.network, package_digest: digest, module_bytes, checked };
  return printReport(build, published);
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
  const run = () => publish(parseContractOptions(args), io, open);
  return await runGroup({ usage: CONTRACT_USAGE, run, details }, args, io);
}
