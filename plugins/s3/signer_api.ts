/** The part of npm `aws4fetch` 1 that this plugin uses. */

/** What a request is signed with. */
export interface SignerOptions {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly service: "s3";
  readonly region: string;
  /** Keys of the day, by the day: making one takes four hashes. */
  readonly cache: Map<string, ArrayBuffer>;
  /** When it is signed, `YYYYMMDDTHHMMSSZ`. */
  readonly datetime: string;
}

/** Signs one request: AWS Signature Version 4, in a header. */
export declare const AwsV4Signer: new (options: SignerOptions) => {
  sign(): Promise<{ readonly headers: Headers; readonly url: URL }>;
};
