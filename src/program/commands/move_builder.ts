/**
 * The Move compiler in WebAssembly, of 9 MB: only what compiles a contract loads it.
 *
 * @module
 */
export * from "@zktx.io/sui-move-builder/full";
