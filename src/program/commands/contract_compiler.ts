import { invalid } from "../invalid.ts";
import { SvcError } from "../../errors.ts";
import { LATER } from "../../later.ts";

/** Files of a Move package: text by path, such as `sources/account.move`. */
export type MoveFiles = Readonly<Record<string, string>>;

/** Everything the compiler needs; nothing is fetched. */
export interface ContractSources {
  readonly contract: MoveFiles;
  /** Interfaces of the framework at 0x1. */
  readonly std: MoveFiles;
  /** Interfaces of the framework at 0x2. */
  readonly sui: MoveFiles;
}

interface CompiledContract {
  /** Bytecode of the modules, in the order of their dependencies. */
  readonly modules: readonly Uint8Array<ArrayBuffer>[];
  /** Packages it links to, `0x` and 64 hex characters. */
  readonly dependencies: readonly string[];
  /** 64 hex characters: BLAKE2b-256 over modules and dependencies, as the Sui CLI shows it. */
  readonly digest: string;
}

/** What is used of `@zktx.io/sui-move-builder`: the Move compiler and VM in WebAssembly. */
export interface MoveBuilder {
  readonly MovePackageFetcher: new () => object;
  initMovePackageBuilder(): Promise<void>;
  dumpMovePackage(input: unknown): Promise<
    | { readonly error: string }
    | { readonly modules: string[]; readonly dependencies: string[]; readonly digest: number[] }
  >;
}

/** Folder of the framework's repository that a package of it lies in. */
const FRAMEWORK = "crates/sui-framework/packages/";

async function readFolder(folder: URL, prefix = ""): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) {
      Object.assign(files, await readFolder(new URL(`${name}/`, folder), `${prefix}${name}/`));
    } else if (/\.(move|toml)$/.test(name)) {
      files[prefix + name] = await Deno.readTextFile(new URL(name, folder));
    }
  }
  return files;
}

/**
 * Reads the contract and the interfaces it compiles against.
 *
 * @param root Folder `contracts/`, with a slash at the end.
 * @throws {SvcError} `not_found` where the sources are not beside the program.
 */
export async function readContract(root: URL): Promise<ContractSources> {
  try {
    // In sequence, so that no read is under way when another one fails.
    return {
      contract: await readFolder(new URL("svc/", root)),
      std: await readFolder(new URL("stubs/std/", root)),
      sui: await readFolder(new URL("stubs/sui/", root)),
    };
  } catch (cause) {
    const text = "The sources of the contract are not there: run this from a checkout of svc";
    throw new SvcError("not_found", text, { cause });
  }
}

/** Shared by the whole process: the WebAssembly module starts once. */
let loading: Promise<MoveBuilder> | undefined;

async function load(): Promise<MoveBuilder> {
  const builder = await import(`./move_builder.ts${LATER}`) as MoveBuilder;
  await builder.initMovePackageBuilder();
  return builder;
}

/**
 * The compiler, loaded at the first call.
 *
 * @throws {SvcError} `invalid_parameter` when it cannot be loaded.
 */
export async function openCompiler(): Promise<MoveBuilder> {
  loading ??= load().catch((cause) => {
    loading = undefined;
    const text = "The Move compiler cannot be loaded; it comes from npm when it is used first";
    throw invalid(text, cause);
  });
  return await loading;
}

/** Answers the compiler's downloads of the framework from our interface files, offline. */
export function fetcherOf(builder: MoveBuilder, { std, sui }: ContractSources): object {
  const packages = new Map([
    [`${FRAMEWORK}move-stdlib`, std],
    [`${FRAMEWORK}sui-framework`, sui],
  ]);
  return Object.assign(new builder.MovePackageFetcher(), {
    fetch(_url: string, _revision: string, folder = ""): Promise<MoveFiles> {
      const files = packages.get(folder);
      return files === undefined
        ? Promise.reject(new Error(`The contract may not depend on ${folder}`))
        : Promise.resolve(files);
    },
    fetchFile: () => Promise.resolve(null),
    getResolvedSha: () => "0".repeat(40),
  });
}

const isTest = (path: string): boolean => path.split("/")[0] === "tests";

/**
 * Compiles the contract, without its tests.
 *
 * @throws {SvcError} `invalid_parameter` with the compiler's report, or when it cannot be loaded.
 */
export async function compileContract(sources: ContractSources): Promise<CompiledContract> {
  const builder = await openCompiler();
  const files = Object.fromEntries(
    Object.entries(sources.contract).filter(([path]) => !isTest(path)),
  );
  const result = await builder.dumpMovePackage({
    files,
    fetcher: fetcherOf(builder, sources),
    network: "mainnet",
  });
  if ("error" in result) {
    throw invalid(`The contract does not compile:\n${result.error}`);
  }
  return {
    modules: result.modules.map((text) => Uint8Array.fromBase64(text)),
    dependencies: result.dependencies,
    digest: new Uint8Array(result.digest).toHex(),
  };
}
