import type { Sealer } from "../../interfaces/plugin.ts";
import { clientName, type OAuthClient, redirectsOf } from "./client.ts";
import { type ClientDocuments, documentUrl } from "./client_documents.ts";
import { OAuthError } from "./oauth_error.ts";

/** What the ids of apps begin with that registered themselves. */
const PREFIX = "svcapp.";
const ID = /^svcapp\.([\w-]{40,4096})$/;
const BASE64URL = { alphabet: "base64url", omitPadding: true } as const;

/** What is sealed into the id of an app. */
interface Registered {
  readonly name?: string;
  readonly redirects: readonly string[];
}

/** What an app says of itself when it registers (RFC 7591 2). */
export interface ClientMetadata {
  readonly redirect_uris?: unknown;
  readonly client_name?: unknown;
  readonly grant_types?: unknown;
}

/** Knows apps by their ids. Nothing is kept of them: an id says itself what was registered. */
export class OAuthClients {
  readonly #sealer: Pick<Sealer, "seal" | "open">;
  readonly #documents: ClientDocuments | undefined;

  /** Without `documents` an app has to register. */
  constructor(sealer: Pick<Sealer, "seal" | "open">, documents: ClientDocuments | undefined) {
    this.#sealer = sealer;
    this.#documents = documents;
  }

  /** Whether an app may be known by a document of its own. */
  get readsDocuments(): boolean {
    return this.#documents !== undefined;
  }

  /**
   * An app that anybody registers (RFC 7591). What it asks for and cannot have, such as a secret, is
   * not in the answer.
   *
   * @throws {OAuthError} `invalid_redirect_uri`, `invalid_client_metadata`.
   */
  register(metadata: ClientMetadata): OAuthClient {
    const redirects = redirectsOf(metadata.redirect_uris);
    if (redirects === undefined) {
      throw new OAuthError(
        "invalid_redirect_uri",
        "redirect_uris must be 1 to 10 addresses of https, of http on this computer, or of a " +
          "program's scheme, with at most 2048 characters",
      );
    }
    const { grant_types: grants } = metadata;
    if (Array.isArray(grants) && !grants.includes("authorization_code")) {
      throw new OAuthError("invalid_client_metadata", "grant_types must have authorization_code");
    }
    const name = clientName(metadata.client_name);
    const registered: Registered = { ...(name === undefined ? {} : { name }), redirects };
    const sealed = this.#sealer.seal(new TextEncoder().encode(JSON.stringify(registered)), PREFIX);
    return { clientId: PREFIX + sealed.toBase64(BASE64URL), name, redirectUris: redirects };
  }

  /**
   * The app with an id.
   *
   * @param network Of the client address that asks.
   * @throws {OAuthError} `invalid_client`.
   * @throws {SvcError} `overloaded` when too many documents are being read.
   */
  async find(clientId: string, network: string): Promise<OAuthClient> {
    const url = documentUrl(clientId);
    if (url !== undefined && this.#documents !== undefined) {
      return await this.#documents.read(url, network);
    }
    const client = this.#registered(clientId);
    if (client !== undefined) return client;
    throw new OAuthError("invalid_client", "The app is not known here: it has to register again");
  }

  #registered(clientId: string): OAuthClient | undefined {
    const encoded = ID.exec(clientId)?.[1];
    if (encoded === undefined || encoded.length % 4 === 1) return undefined;
    try {
      const sealed = Uint8Array.fromBase64(encoded, { alphabet: "base64url" });
      const text = new TextDecoder().decode(this.#sealer.open(sealed, PREFIX));
      const { name, redirects }: Registered = JSON.parse(text);
      return { clientId, name, redirectUris: redirects };
    } catch {
      return undefined;
    }
  }
}
