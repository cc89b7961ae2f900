import {
  checked,
  choice,
  definePlugin,
  type Field,
  headerSecret,
  httpUrl,
  optionalText,
  type Plugin,
  type Secret,
  secret,
  text,
  type Values,
} from "../../src/interfaces/plugin.ts";
import { SvcError } from "../../src/errors.ts";
import { LATER } from "../../src/later.ts";
import { netEntry } from "../../src/wire/net_entry.ts";
import type { BucketAddress } from "./requests.ts";

/** Loaded later: the package is fetched when this plugin is chosen. */
const backends = (): Promise<typeof import("./backends.ts")> => import(`./backends.ts${LATER}`);

/** Settings of the plugin. */
export type S3Fields = {
  /** Address of the server. */
  readonly endpoint: Field<string>;
  /** Name of the bucket. */
  readonly bucket: Field<string | undefined>;
  /** Region that requests are signed for. */
  readonly region: Field<string>;
  /** What every object's name begins with. */
  readonly prefix: Field<string>;
  /** Where the bucket's name stands in an address. */
  readonly addressing: Field<"path" | "host">;
  /** Whether the bucket is asked if it keeps versions, or is said not to. */
  readonly versions: Field<"ask" | "none">;
  /** Name of the access key. */
  readonly accessKeyId: Field<Secret | undefined>;
  /** The key itself. */
  readonly secretAccessKey: Field<Secret | undefined>;
  /** Token of temporary credentials. */
  readonly sessionToken: Field<Secret | undefined>;
};

const MAX_PREFIX = 200;

function prefixProblem(prefix: string): string | undefined {
  if (prefix.length > MAX_PREFIX) return `must have at most ${MAX_PREFIX} characters`;
  const isPlain = /^(?:[\w.-]+\/)*[\w.-]*$/.test(prefix);
  // An address drops these.
  const isPath = prefix.split("/").some((part) => part === "." || part === "..");
  return isPlain && !isPath ? undefined : "must be letters, digits, -, _ and . with single slashes";
}

function bucketUrl(endpoint: string, bucket: string, addressing: "path" | "host"): string {
  if (addressing === "path") return `${endpoint}/${bucket}`;
  const url = new URL(endpoint);
  url.hostname = `${bucket}.${url.hostname}`;
  return url.href.replace(/\/+$/, "");
}

function addressOf(settings: Values<S3Fields>): BucketAddress {
  const { endpoint, bucket, addressing, region } = settings;
  const { accessKeyId, secretAccessKey, sessionToken } = settings;
  const missing = [
    bucket === undefined ? "SVC_S3_BUCKET" : "",
    accessKeyId === undefined ? "SVC_S3_ACCESS_KEY_ID" : "",
    secretAccessKey === undefined ? "SVC_S3_SECRET_ACCESS_KEY" : "",
  ].filter((name) => name !== "");
  if (bucket === undefined || accessKeyId === undefined || secretAccessKey === undefined) {
    throw new SvcError("invalid_parameter", `SVC_BLOB_STORE=s3 needs ${missing.join(" and ")}`);
  }
  const url = bucketUrl(endpoint, bucket, addressing);
  return { url, region, accessKeyId, secretAccessKey, sessionToken };
}

/** The plugin `s3` for the role `blobStore`. */
const plugin: Plugin<S3Fields> = definePlugin({
  name: "s3",
  docs: "s3.md",
  fields: {
    endpoint: checked(
      httpUrl("SVC_S3_ENDPOINT", "https://s3.us-east-1.amazonaws.com", "Address of the server"),
      (value) => /[?#]/.test(value) ? "must have neither a query nor a fragment" : undefined,
    ),
    bucket: checked(
      optionalText("SVC_S3_BUCKET", "Bucket, which must exist"),
      (value) =>
        /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(value!) && !value!.includes("..")
          ? undefined
          : "must be the name of a bucket: 3 to 63 small letters, digits, - and .",
    ),
    region: checked(
      text("SVC_S3_REGION", "us-east-1", "Region that requests are signed for"),
      (value) =>
        /^[\w-]{1,64}$/.test(value) ? undefined : "must be the name of a region, such as eu-west-1",
    ),
    prefix: checked(
      text("SVC_S3_PREFIX", "svc/", "What the name of every object begins with"),
      prefixProblem,
    ),
    addressing: choice(
      "SVC_S3_ADDRESSING",
      "path",
      ["path", "host"],
      "Where the bucket stands in an address: behind the endpoint, or before its host",
    ),
    versions: choice(
      "SVC_S3_VERSIONS",
      "ask",
      ["ask", "none"],
      "`none` for a bucket that keeps no versions and cannot be asked",
    ),
    accessKeyId: headerSecret("SVC_S3_ACCESS_KEY_ID", "Name of the access key"),
    secretAccessKey: secret(
      "SVC_S3_SECRET_ACCESS_KEY",
      "The access key: it signs, and is not sent",
    ),
    sessionToken: headerSecret("SVC_S3_SESSION_TOKEN", "Token of temporary credentials"),
  },
  permissions: (_role, settings) => ({ net: [netEntry(addressOf(settings).url)] }),
  roles: {
    blobStore: async (settings, context) =>
      (await backends()).s3BlobStore({
        address: addressOf(settings),
        prefix: settings.prefix,
        versions: settings.versions,
        context,
      }),
  },
});

export default plugin;
