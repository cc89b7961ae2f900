import { useLiteEmbedder } from "../../../plugins/use_lite/mod.ts";
import { conform, embedderSuite } from "../../../testing/mod.ts";

conform(embedderSuite, "use-lite", () => useLiteEmbedder());
