import { stripVTControlCharacters } from "node:util";
import {
  type ContractSources,
  fetcherOf,
  type MoveBuilder,
  type MoveFiles,
  openCompiler,
} from "../../src/program/commands/contract_compiler.ts";

interface UnitTestRun {
  readonly passed: boolean;
  /** The runner's report, without colours. */
  readonly output: string;
}

interface TestBuilder extends MoveBuilder {
  testMovePackage(input: unknown): Promise<{ readonly error: string } | UnitTestRun>;
}

/**
 * Runs the contract's unit tests in the Move VM.
 *
 * They run under edition 2024.alpha: in the stable one a test cannot reach private members.
 *
 * @param more Further test files, by path.
 */
export async function testContract(
  sources: ContractSources,
  more: MoveFiles = {},
): Promise<UnitTestRun> {
  const builder = await openCompiler() as TestBuilder;
  const manifest = sources.contract["Move.toml"] ?? "";
  const result = await builder.testMovePackage({
    files: {
      ...sources.contract,
      ...more,
      "Move.toml": manifest.replace(`edition = "2024"`, `edition = "2024.alpha"`),
    },
    fetcher: fetcherOf(builder, sources),
    network: "mainnet",
    silenceWarnings: true,
  });
  const output = "error" in result ? result.error : result.output;
  return {
    passed: "passed" in result && result.passed,
    output: stripVTControlCharacters(output),
  };
}
