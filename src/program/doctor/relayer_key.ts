import { SvcError } from "../../errors.ts";
import { keysThatOpen } from "../../storage/core/key_slot_table.ts";
import { loadRelayerKey, runCommand } from "../key_source.ts";
import { EMPTY } from "../settings/plugin_settings.ts";
import { type Check, ok, problem, warning } from "./finding.ts";
import { isWider } from "./secret_files.ts";

const ADVICE = "put back the key that belongs to this data directory: nothing else opens it";

const CHANGED =
  "the next key is let in, but this one is still in use: put the next one where the " +
  "settings say and restart, or say `svc key rotate` again";

/** Whether the relayer key is the one that the data was sealed under. */
export const relayerKey: Check = {
  name: "relayer key",
  async look({ prepared: { settings } }) {
    const { dataDir, keyFile, keyPassphraseFile, store } = settings;
    // To ask the store would bring its tables up to date, which a look must not.
    if (store !== EMPTY.store) return [ok(`a start compares it with SVC_STORE=${store}`)];
    const letIn = keysThatOpen(`${dataDir}/core.db`);
    if (letIn.length === 0) return [ok("nothing is sealed yet: any key fits")];
    const needed = keyPassphraseFile === undefined
      ? [keyFile]
      : [keyPassphraseFile, `${dataDir}/relayer.salt`];
    for (const path of needed.filter((path) => path !== undefined)) {
      const info = await Deno.lstat(path).catch(() => undefined);
      if (info === undefined) return [problem(`${path} cannot be found`, ADVICE)];
      // Reading it as a start does would take the wider permissions away.
      if (!info.isFile || isWider(info.mode, 0o600)) {
        return [problem(`${path} was not read: other users may open it`, `chmod 600 ${path}`)];
      }
    }
    try {
      const { key } = await loadRelayerKey(settings, runCommand);
      if (letIn.at(-1) === key.fingerprint()) {
        return [ok("it fits the data directory")];
      }
      if (letIn.includes(key.fingerprint())) return [warning("it was to be changed", CHANGED)];
      return [problem(`the data in ${dataDir} belongs to another key`, ADVICE)];
    } catch (error) {
      return [problem(SvcError.from(error).message, ADVICE)];
    }
  },
};
