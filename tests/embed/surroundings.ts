import type { Surroundings } from "../../src/embed/open_backends.ts";
import { KeysForTests, sealerForTests } from "../plugins/sealer_for_tests.ts";

/** What a relayer that keeps nothing gives its backends. */
export const SURROUNDINGS: Surroundings = {
  dataDir: undefined,
  keys: new KeysForTests(),
  sealer: sealerForTests,
  log() {},
};
