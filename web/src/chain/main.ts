/**
 * What the page needs where accounts are on a chain; a file of its own, loaded only there.
 *
 * @module
 */
export { ChainOwner, type ChainPlace } from "./chain_owner.ts";
