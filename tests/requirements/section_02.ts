import { DEFERRED, type Rule, rules } from "./rule.ts";

const service = rules("1", [
  [1, "a recall that finds nothing says No matching memories found"],
  [2, "without a namespace a memory lives in default"],
  [3, "the key that signs must be a delegate key of the owner's account"],
  [4, "an embedded deployment needs no network"],
  [5, "the relayer forwards MCP and sponsor traffic to a sidecar over loopback"],
  [6, "the relayer starts, supervises and restarts the sidecar"],
]);

/** Rules of sections 1 and 2, the service and its resources. */
export const SECTION_2: readonly Rule[] = [
  ...service,
  ...rules("2", [
    [1, "ids are UUIDs; memory_id equals job_id for remember, bulk and manual"],
    [2, "text comes back byte for byte as submitted"],
    [3, "times are RFC 3339 in UTC with milliseconds and Z"],
    [4, "importance is 0.5 unless given"],
    [5, "metadata comes back as given"],
    [6, "size_bytes is the ciphertext size that counts against the quota"],
    [7, "source names the operation: remember, bulk, manual or restore"],
    [8, "text and metadata are encrypted at rest"],
    [9, "a missing, null or empty namespace means default"],
    [10, "a namespace is taken exactly as given: not trimmed, not case-folded"],
    [11, "a namespace has 1 to 256 bytes of UTF-8, else invalid_namespace"],
    [12, "a namespace with a control character is refused"],
    [13, "restore and forget require a namespace: missing 422, empty 400 empty_namespace"],
    [14, "a delegate key is listed with public key, address, label, permissions and creation time"],
    [15, "an expiry of a delegate key is optional"],
    [16, "version is 1 for a new memory and raised by each replacement", DEFERRED.put],
    [17, "members without a value are left out of answers"],
    [18, "an account is an on-chain object of the exact type SvcAccount"],
    [19, "analyze is a source of its own"],
    [20, "import is a source of its own", DEFERRED.exportImport],
  ]),
];
