/** Serves the npm package mock-llm on a port that the system chooses, and prints it. */
import { getDefaultConfig } from "@dwmkerr/mock-llm/dist/config.js";
import { createServer } from "@dwmkerr/mock-llm/dist/server.js";

// The package reports each request on standard output, where only the port belongs.
// deno-lint-ignore no-console
console.log = () => {};
const server = createServer(getDefaultConfig(), "127.0.0.1", 0).listen(0, "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  Deno.stdout.writeSync(new TextEncoder().encode(`${port}\n`));
});
