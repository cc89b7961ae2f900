import { bcs } from "@mysten/sui/bcs";

// Field order of the structs of module `key_server` of the Seal package, as @mysten/seal 1.4 reads
// them, and of what a session key signs.

/** `key_server::KeyServer`; its versions are dynamic fields named by a u64. */
export const KeyServerObject = bcs.struct("KeyServer", {
  id: bcs.Address,
  first_version: bcs.u64(),
  last_version: bcs.u64(),
});

/** `key_server::KeyServerV1`: an independent server. */
export const KeyServerV1 = bcs.struct("KeyServerV1", {
  name: bcs.string(),
  url: bcs.string(),
  key_type: bcs.u8(),
  pk: bcs.byteVector(),
});

/** `key_server::KeyServerV2`: an independent server, or a committee behind an aggregator. */
export const KeyServerV2 = bcs.struct("KeyServerV2", {
  name: bcs.string(),
  key_type: bcs.u8(),
  pk: bcs.byteVector(),
  server_type: bcs.enum("ServerType", {
    Independent: bcs.struct("Independent", { url: bcs.string() }),
    Committee: bcs.struct("Committee", {
      version: bcs.u32(),
      threshold: bcs.u16(),
      partial_key_servers: bcs.vector(bcs.struct("PartialKeyServer", {
        name: bcs.string(),
        url: bcs.string(),
        partial_pk: bcs.byteVector(),
        party_id: bcs.u16(),
      })),
    }),
  }),
});

/** What a session key signs for a request. */
export const SignedRequest = bcs.struct("RequestFormat", {
  ptb: bcs.byteVector(),
  enc_key: bcs.byteVector(),
  enc_verification_key: bcs.byteVector(),
});
