/**
 * The stdio package under an MCP host: a bridge from standard input and output to a relayer.
 *
 * @module
 */
export { Bridge, type BridgeOptions } from "./bridge.ts";
