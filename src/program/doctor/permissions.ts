import { SvcError } from "../../errors.ts";
import { printPermissions } from "../launcher/start.ts";
import { type Check, type Finding, ok, problem, warning } from "./finding.ts";

/** The version of Deno that every test runs on. */
export const TESTED_DENO = "2.9.6";

/** Whether relayer and sidecar can be given what they and their plugins need, and nothing else. */
export const permissions: Check = {
  name: "permissions",
  async look({ prepared, env }) {
    return [await lists(() => printPermissions(prepared, env)), denoVersion(Deno.version.deno)];
  },
};

async function lists(compute: () => Promise<string>): Promise<Finding> {
  try {
    const list = await compute();
    const native = list.includes("--allow-ffi");
    return native
      ? warning(
        "a plugin loads native code, which no permission list binds",
        "`--print-permissions` names its file; other stores need none",
      )
      : ok("a list for each process, without native code (`--print-permissions`)");
  } catch (error) {
    return problem(
      SvcError.from(error).message,
      "choose another plugin, or make its packages available: docs/plugins.md",
    );
  }
}

/** Whether this Deno is one that the program was tested on. */
export function denoVersion(version: string): Finding {
  const minor = (text: string) => text.split(".").slice(0, 2).join(".");
  if (minor(version) === minor(TESTED_DENO)) return ok(`Deno ${version}`);
  return warning(
    `Deno ${version}; the program is tested on ${TESTED_DENO}`,
    `npx -y deno@${TESTED_DENO} task start`,
  );
}
