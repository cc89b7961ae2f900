import { V8_FLAGS } from "../src/program/launcher/child_spec.ts";
import type { DataFolder } from "./data_folder.ts";
import { freePort, ServerProcess } from "./server_process.ts";

/** Starts the relayer without its launcher, but as that does, on a folder. */
export function startRelayer(
  folder: DataFolder,
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const port = freePort();
  return ServerProcess.start({
    args: [V8_FLAGS.serve, "main.ts", "serve"],
    port,
    env: { ...folder.env(port), ...env },
  });
}
