import { blobStoreSuite, conform } from "../../../testing/mod.ts";
import { withJobIds, withServer } from "./on_server.ts";

conform(blobStoreSuite, "s3", () => withServer({ versions: false, page: 7 }));
conform(
  blobStoreSuite,
  "s3, with ids of jobs",
  async () => withJobIds(await withServer({ versions: false })),
);
conform(
  blobStoreSuite,
  "s3 without conditional puts, and versions unknown",
  () => withServer({ conditional: false }),
);
conform(
  blobStoreSuite,
  "s3 without conditional puts, with ids of jobs and versions",
  async () => withJobIds(await withServer({ conditional: false, versions: true })),
);
