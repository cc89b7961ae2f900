import { SvcError } from "../../src/errors.ts";
import { definePlugin, secret } from "../../src/interfaces/plugin.ts";
import { FakeSponsor } from "./fake_sponsor.ts";

/** A sponsor that a process of its own can load; it needs its key. */
export default definePlugin({
  name: "fake",
  fields: { key: secret("FAKE_SPONSOR_KEY", "Key") },
  roles: {
    sponsor({ key }) {
      if (key?.reveal() !== "open sesame") throw new SvcError("invalid_parameter", "Wrong key");
      return new FakeSponsor();
    },
  },
});
