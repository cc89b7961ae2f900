import { ALLOWED } from "./allowed.ts";

/** Lines of a function, from its first to its last as a reader sees them. */
const MAX_LINES = 60;

const MAX_PARAMETERS = 5;

const ROOT = new URL("../../", import.meta.url).pathname;
const PRODUCT = /^(src|plugins|cli|web\/src|testing|build)\/|^(main|mod)\.ts$/;

type FunctionNode =
  | Deno.lint.FunctionDeclaration
  | Deno.lint.FunctionExpression
  | Deno.lint.ArrowFunctionExpression;

/** What a rule finds wrong with a function, if anything. */
type Verdict = (node: FunctionNode, source: string) => string | undefined;

/** Words that say which function of a file is meant; anonymous ones by what they stand in. */
function nameOf(node: FunctionNode, context: Deno.lint.RuleContext): string {
  if (node.type !== "ArrowFunctionExpression" && node.id) return node.id.name;
  const words = context.sourceCode.getAncestors(node).map((outer) => {
    switch (outer.type) {
      case "ClassDeclaration":
      case "FunctionDeclaration":
      case "FunctionExpression":
        return outer.id?.name;
      case "VariableDeclarator":
        return outer.id.type === "Identifier" ? outer.id.name : undefined;
      case "MethodDefinition":
      case "PropertyDefinition":
      case "Property":
        return context.sourceCode.getText(outer.key);
      case "CallExpression":
        return `${context.sourceCode.getText(outer.callee).split("\n")[0]}()`;
    }
  });
  return words.filter((word) => word !== undefined).join(".");
}

/**
 * A rule about every function of the product. Entries of the list are let off; one that no longer
 * needs it fails, so that the list only shrinks.
 */
function rule(allowed: readonly string[], verdict: Verdict): Deno.lint.Rule {
  return {
    create(context) {
      const file = context.filename.slice(ROOT.length);
      if (!context.filename.startsWith(ROOT) || !PRODUCT.test(file) || /_test\.tsx?$/.test(file)) {
        return {};
      }
      const unused = new Set(allowed.filter((entry) => entry.startsWith(`${file} `)));
      const check = (node: FunctionNode): void => {
        const wrong = verdict(node, context.sourceCode.text);
        if (wrong === undefined) return;
        const name = `${file} ${nameOf(node, context)}`;
        if (!allowed.includes(name)) context.report({ node, message: `${name} has ${wrong}` });
        unused.delete(name);
      };
      return {
        FunctionDeclaration: check,
        FunctionExpression: check,
        ArrowFunctionExpression: check,
        "Program:exit": (node: Deno.lint.Program) => {
          for (const entry of unused) {
            context.report({ node, message: `${entry} keeps the rule: take it off the list` });
          }
        },
      };
    },
  };
}

/** Rules about the sizes of functions, for `deno lint`; the functions named are let off. */
export function gates(allowed: typeof ALLOWED): Deno.lint.Plugin {
  return {
    name: "gates",
    rules: {
      "function-lines": rule(allowed.lines, ({ range: [start, end] }, source) => {
        const { length } = source.slice(start, end).split("\n");
        return length > MAX_LINES ? `${length} lines, more than ${MAX_LINES}` : undefined;
      }),
      "function-parameters": rule(
        allowed.parameters,
        ({ params: { length } }) =>
          length > MAX_PARAMETERS ? `${length} parameters, more than ${MAX_PARAMETERS}` : undefined,
      ),
    },
  };
}

export default gates(ALLOWED);
