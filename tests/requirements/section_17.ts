import { DEFERRED, type Rule, rules } from "./rule.ts";

/** Rules of sections 17 and 18, compatibility and versioning. */
export const SECTION_17: readonly Rule[] = [
  ...rules("17.1", [
    [1, "the TypeScript SDK 0.0.1 works unchanged: 4-field form, x-delegate-key, x-account-id"],
    [2, "202 bodies of remember have id, blob_id, owner and namespace"],
    [3, "no job state names but those of section 8 appear"],
    [4, "done normally comes within the wait of published clients"],
    [5, "an unknown job is a 404 with a JSON body"],
    [6, "a GET may carry a JSON content type and no body"],
    [7, "remember and bulk answer 200 or 202, every other route exactly 200"],
    [8, "a recall hit has blob_id, text and distance; restore has its five base members"],
    [9, "analyze's 202 has total"],
    [10, "ask answers answer, memories_used and memories"],
    [11, "the stdio bridge 0.0.2 works unchanged", DEFERRED.bridge],
    [12, "the SDKs 0.0.7 and 0.1.4 work unchanged with a threshold cipher", DEFERRED.seal],
  ]),
  ...rules("17.2", [
    [1, "MCP routes take x-memwal-account-id and x-memwal-namespace"],
    [2, "tools/call takes the memwal_ names"],
    [3, "tools/list shows alias names to sessions opened with the alias header"],
    [4, "a blind re-send does not store twice"],
  ]),
  ...rules("17.3", [
    [1, "apiVersion is x.y.z with major 1; relayerVersion is not empty"],
    [2, "minSupportedSdk is 0.0.1, 0.1.0 and 0.0.1"],
    [3, "/health has the members of /version and status ok"],
    [4, "/config: packageId, network and suiRpcUrl are not empty"],
    [5, "sui_getObject of the package answers the object of the document"],
    [6, "sui_multiGetObjects answers a list"],
    [7, "an unknown object answers notExists"],
    [8, "other methods answer -32601"],
    [9, "gRPC-web paths below suiRpcUrl answer 404"],
    [10, "the route needs no signature and reads no chain"],
  ]),
  ...rules("17.4", [
    [1, "/version, /config, /health, x-delegate-key and x-seal-session are always kept"],
    [2, "legacy SSE is always kept"],
  ]),
  ...rules("18", [
    [1, "no version in paths, headers or bodies of requests; apiVersion is in /version"],
    [2, "clients ignore unknown members of answers"],
    [3, "the only unasked messages are MCP notifications"],
  ]),
];
