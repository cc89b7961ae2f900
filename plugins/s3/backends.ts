export { s3BlobStore, type S3BlobStoreOptions } from "./blob_store.ts";
