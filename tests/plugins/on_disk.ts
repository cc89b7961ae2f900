/** A backend on a fresh folder, which goes with it. */
export async function onDisk<T extends AsyncDisposable>(
  open: (dataDir: string) => T | Promise<T>,
): Promise<T> {
  const dataDir = await Deno.makeTempDir();
  const backend = await open(dataDir);
  const dispose = backend[Symbol.asyncDispose].bind(backend);
  let removed = false;
  backend[Symbol.asyncDispose] = async () => {
    await dispose();
    if (!removed) await Deno.remove(dataDir, { recursive: true });
    removed = true;
  };
  return backend;
}
