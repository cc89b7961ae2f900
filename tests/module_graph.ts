/** What a module imports. */
interface Import {
  /** A file by its path from the root, or a package's name. */
  readonly to: string;
  /** Whether it is a file of the same root. */
  readonly own: boolean;
  /** Whether running the module needs it, at once or later; else it is there for its types. */
  readonly needed: boolean;
}

/** Imports of modules, by their paths from the root of this repository. */
export type ModuleGraph = ReadonlyMap<string, readonly Import[]>;

/** Reads what files of a folder import; specifiers that are computed are not known. */
export async function moduleGraph(root: URL, files: readonly string[]): Promise<ModuleGraph> {
  const graph = new Map<string, readonly Import[]>();
  for (const file of files) {
    const url = new URL(file, root);
    const written = specifiersOf(url, await Deno.readTextFile(url));
    graph.set(
      file,
      written.map(({ to, needed }) => {
        const own = to.startsWith(".");
        return { to: own ? new URL(to, url).href.slice(root.href.length) : to, own, needed };
      }),
    );
  }
  return graph;
}

/** Specifiers as the source writes them. The parser of lint rules is the one that Deno has. */
function specifiersOf(url: URL, source: string): Omit<Import, "own">[] {
  const found: Omit<Import, "own">[] = [];
  const add = (node: Deno.lint.Node | null, needed: boolean): void => {
    if (node?.type === "Literal") found.push({ to: String(node.value), needed });
  };
  const rule: Deno.lint.Rule = {
    create: () => ({
      ImportDeclaration: (node) => add(node.source, node.importKind === "value"),
      ExportNamedDeclaration: (node) => add(node.source, node.exportKind === "value"),
      ExportAllDeclaration: (node) => add(node.source, node.exportKind === "value"),
      ImportExpression: (node) => add(node.source, true),
      TSImportType({ argument }) {
        if (argument.type === "TSLiteralType") add(argument.literal, false);
      },
    }),
  };
  Deno.lint.runPlugin({ name: "imports", rules: { imports: rule } }, url.pathname, source);
  return found;
}

/** What running a module needs: itself, and everything that is imported on the way. */
export function needsOf(graph: ModuleGraph, entry: string): ReadonlySet<string> {
  const found = new Set([entry]);
  for (const file of found) {
    for (const { to, needed } of graph.get(file) ?? []) if (needed) found.add(to);
  }
  return found;
}
