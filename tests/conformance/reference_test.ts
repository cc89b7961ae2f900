import { deepStrictEqual, throws } from "node:assert/strict";
import {
  memoryAccounts,
  memoryBlobStore,
  memoryCipher,
  memoryEmbedder,
  memoryVectorStore,
} from "../../plugins/memory.ts";
import {
  accountRegistrySuite,
  blobStoreSuite,
  cipherSuite,
  conform,
  embedderSuite,
  vectorStoreSuite,
} from "./mod.ts";
conform(accountRegistrySuite, "memory", () => memoryAccounts());
conform(blobStoreSuite, "memory", memoryBlobStore);
conform(cipherSuite, "memory", memoryCipher);
conform(embedderSuite, "memory", () => memoryEmbedder());
conform(vectorStoreSuite, "memory", memoryVectorStore);
