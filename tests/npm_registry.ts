import type { PackageManifest } from "../build/program_package.ts";

/**
 * A registry on this machine that has packages of ours, and sends whoever asks for another one to
 * the real registry. Packages of other platforms that the real one lacks are there by name alone:
 * Deno wants to know of all of them.
 */
export class NpmRegistry implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  /**
   * @param packages tarballs by the name of their package.
   * @param real Address of the registry that has the others.
   */
  constructor(
    packages: ReadonlyMap<string, { manifest: PackageManifest; tarball: Uint8Array<ArrayBuffer> }>,
    real: string,
  ) {
    const answer = async (request: Request): Promise<Response> => {
      const path = new URL(request.url).pathname;
      const name = decodeURIComponent(path.slice(1).replace(/\.tgz$/, ""));
      const own = packages.get(name);
      if (own !== undefined && path.endsWith(".tgz")) return new Response(own.tarball);
      if (own !== undefined) return Response.json(await this.#packument(own));
      if (!name.startsWith("@deno/") || path.endsWith(".tgz")) {
        return Response.redirect(new URL(path, real), 302);
      }
      const packument = await (await fetch(new URL(path, real))).json();
      const wanted = packages.get("svc")!.manifest.dependencies!.deno!;
      const none = { tarball: `${this.url}/none.tgz`, integrity: "sha512-AA==" };
      packument.versions[wanted] ??= { name, version: wanted, os: ["none"], dist: none };
      return Response.json(packument);
    };
    const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
    this.#server = Deno.serve(options, answer);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async #packument(
    { manifest, tarball }: { manifest: PackageManifest; tarball: Uint8Array<ArrayBuffer> },
  ): Promise<object> {
    const { name, version } = manifest;
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-512", tarball));
    const integrity = `sha512-${digest.toBase64()}`;
    const dist = { tarball: `${this.url}/${name}.tgz`, integrity };
    return {
      name,
      "dist-tags": { latest: version },
      versions: { [version]: { ...manifest, dist } },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
