/**
 * Ends the specifier of an import whose module, with the packages that it brings, is loaded when
 * the import is reached: ``import(`./backends.ts${LATER}`)``. What is a literal belongs to the
 * program's own graph, and every first start would fetch it.
 */
export const LATER = "";

type Loader = (rest: string) => Promise<Record<string, unknown>>;

/** Every form begins in the code itself: what a package imports can be told without running it. */
const LOADERS: readonly (readonly [begin: string, load: Loader])[] = [
  ["file:///", (rest) => import(`file:///${rest}`)],
  ["npm:", (rest) => import(`npm:/${rest}`)],
  ["jsr:", (rest) => import(`jsr:/${rest}`)],
  ["https://", (rest) => import(`https://${rest}`)],
  ["http://", (rest) => import(`http://${rest}`)],
  ["data:text/", (rest) => import(`data:text/${rest}`)],
];

/**
 * Imports a module that only settings name.
 *
 * @param specifier A URL, such as `file:///opt/mine/mod.ts` or `npm:mine@1`.
 * @throws {TypeError} When there is no such module, or its scheme is none that modules have.
 */
export async function importModule(specifier: string): Promise<Record<string, unknown>> {
  for (const [begin, load] of LOADERS) {
    if (specifier.startsWith(begin)) {
      return await load(specifier.slice(begin.length).replace(/^[/]/, ""));
    }
  }
  throw new TypeError(`Module not found "${specifier}"`);
}
