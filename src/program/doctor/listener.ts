import { VERSION } from "../../wire/version.ts";
import { type Check, type Finding, ok, problem, type Subject, warning } from "./finding.ts";

/** Whether the relayer answers where it should, and is the one that is installed. */
export const listener: Check = {
  name: "listener",
  look(subject) {
    const { running, holder } = subject;
    if (running.who === "unknown") {
      return [ok("SVC_PORT is 0: the system chooses the port, and nobody was asked")];
    }
    const { address } = running;
    if (running.who === "stranger") {
      return [
        problem(
          `${address} is taken by something that is not this relayer: ${running.reason}`,
          "stop that program, or set SVC_PORT",
        ),
      ];
    }
    if (running.who === "relayer") return [ofRelayer(running, subject.packageId)];
    if (holder === undefined) return [ok(`${address} is free: no relayer is running`)];
    return [
      warning(
        `process ${holder} has the data directory, but nothing answers at ${address}`,
        "it is starting, or was started with another SVC_HOST or SVC_PORT",
      ),
    ];
  },
};

function ofRelayer(
  { address, version, packageId }: Subject["running"] & { who: "relayer" },
  expected: string | undefined,
): Finding {
  if (expected !== undefined && packageId !== expected) {
    return problem(
      `the relayer at ${address} has other accounts than this data directory`,
      "set SVC_DATA_DIR as for that relayer, or SVC_PORT as for yours",
    );
  }
  if (version === VERSION) return ok(`the relayer answers at ${address}, version ${version}`);
  const found = `the relayer at ${address} is version ${version}, installed is ${VERSION}`;
  return warning(found, "restart it");
}
