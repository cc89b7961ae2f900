/** Version that key servers of the devnet say they have; @mysten/seal 1.4 wants at least 0.4.1. */
const SERVER_VERSION = "0.6.0";

const HEADERS = {
  "x-keyserver-version": SERVER_VERSION,
  "access-control-expose-headers": "X-KeyServer-Version",
};

const STATUS = {
  InvalidPTB: 403,
  InvalidPackage: 403,
  NoAccess: 403,
  InvalidSignature: 403,
  InvalidSessionSignature: 403,
  InvalidCertificate: 403,
  InvalidParameter: 403,
  InvalidMVRName: 403,
  InvalidServiceId: 400,
  Failure: 503,
} as const;

/** Codes of a key server's errors, each of which @mysten/seal maps to a class. */
export type RefusalCode = keyof typeof STATUS;

/** A key server refuses a request. */
export class Refusal extends Error {
  /** Its code. */
  readonly code: RefusalCode;

  /** @param message Shown to the caller. */
  constructor(code: RefusalCode, message: string = code) {
    super(message);
    this.name = "Refusal";
    this.code = code;
  }

  /** As a key server answers it. */
  toResponse(): Response {
    return Response.json({ error: this.code, message: this.message }, {
      status: STATUS[this.code],
      headers: HEADERS,
    });
  }
}

/** A key server's answer. */
export function answer(body: unknown): Response {
  return Response.json(body, { headers: HEADERS });
}
