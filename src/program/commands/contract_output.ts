import { printable } from "./io.ts";

/** An imported function that the chain does not have as the contract was compiled against it. */
export interface Difference {
  /** `package::module::name`. */
  readonly target: string;
  readonly expected: string;
  /** The chain's; absent when there is no such function. */
  readonly found: string | undefined;
}

export interface PublishedPackage {
  readonly packageId: string;
  readonly registryId: string;
  /** Id of the object that allows upgrades; absent when it was burned. */
  readonly upgradeCapId: string | undefined;
  readonly sender: string;
  readonly digest: string;
}

interface BuildReport {
  readonly network: string;
  /** Digest of the package, 64 hex characters. */
  readonly packageDigest: string;
  readonly moduleBytes: readonly number[];
  /** How many imported functions were compared with the chain's. */
  readonly checked: number;
}

const short = (text: string) => text.replace(/0x0+(?=[12]::)/g, "0x");

export function printDifferences(differences: readonly Difference[]): string {
  return differences.map(({ target, expected, found }) =>
    [
      `  ${short(target)}`,
      `    contract  ${short(expected)}`,
      `    network   ${found === undefined ? "has no such function" : short(printable(found))}`,
    ].join("\n") + "\n"
  ).join("");
}

export function printReport(
  report: BuildReport,
  published: PublishedPackage | undefined,
  json: boolean,
): string {
  const { checked, moduleBytes, network, packageDigest } = report;
  if (json) {
    return JSON.stringify({
      network,
      package_digest: packageDigest,
      module_bytes: moduleBytes,
      imports_checked: checked,
      ...(published === undefined ? { published: false } : {
        published: true,
        package_id: published.packageId,
        registry_id: published.registryId,
        upgrade_cap_id: published.upgradeCapId ?? null,
        sender: published.sender,
        transaction: published.digest,
      }),
    }) + "\n";
  }
  const bytes = moduleBytes.reduce((sum, size) => sum + size, 0);
  const lines = [
    published === undefined ? "Nothing was published" : "Contract published",
    `  network      ${network}`,
    `  digest       ${packageDigest} (${moduleBytes.length} modules, ${bytes} bytes)`,
    `  framework    ${checked} functions compared, none differs`,
  ];
  if (published === undefined) return lines.join("\n") + "\n";
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
  return lines.join("\n") + "\n";
}
