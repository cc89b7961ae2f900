import type { Owner } from "./owner.ts";

/** An owner whose code is loaded when the first change is made. */
export function deferredOwner(load: () => Promise<Owner>): Owner {
  let loading: Promise<Owner> | undefined;
  const owner = () => {
    loading ??= load().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    open: async (...args) => await (await owner()).open(...args),
    addKey: async (...args) => await (await owner()).addKey(...args),
    removeKey: async (...args) => await (await owner()).removeKey(...args),
    removeAllKeys: async (...args) => await (await owner()).removeAllKeys(...args),
    setActive: async (...args) => await (await owner()).setActive(...args),
  };
}
