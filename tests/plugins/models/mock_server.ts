import { fileURLToPath } from "node:url";
import { LOCKED } from "../../locked.ts";

/** A mock server that others wrote, in a process of its own. */
export class MockServer implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  /** Base of its routes. */
  readonly base: string;

  private constructor(child: Deno.ChildProcess, port: number) {
    this.#child = child;
    this.base = `http://127.0.0.1:${port}/v1`;
  }

  /** Starts one of the programs in `mock_servers/` and waits for its port. */
  static async start(name: "mock_llm" | "openai_api_mock"): Promise<MockServer> {
    const program = fileURLToPath(new URL(`mock_servers/${name}.ts`, import.meta.url));
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", ...LOCKED, "--no-prompt", "-A", program],
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const reader = child.stdout.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    return new MockServer(child, Number(new TextDecoder().decode(value)));
  }

  /** Replaces the rules by which mock-llm answers. */
  async answer(path: string, status: number, content: string): Promise<void> {
    const response = await fetch(new URL("/config", this.base), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ rules: [{ path, response: { status, content } }] }),
    });
    await response.body?.cancel();
  }

  /** Ends the process. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#child.status;
  }
}
