// One file, so that one isolate: LanceDB is native code, and a process that loads it into a second
// one while the first ends crashes.
import "./conformance.ts";
import "./failures.ts";
import "./flusher.ts";
import "./interleaving.ts";
import "./table.ts";
