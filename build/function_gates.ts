/** Lines of a function, from its first to its last as a reader sees them. */
const MAX_LINES = 60;

const MAX_PARAMETERS = 5;

const ROOT = new URL("../", import.meta.url).pathname;
const PRODUCT = /^(src|plugins|cli|web\/src|testing|build)\/|^(main|mod)\.ts$/;

type FunctionNode =
  | Deno.lint.FunctionDeclaration
  | Deno.lint.FunctionExpression
  | Deno.lint.ArrowFunctionExpression;

/** What a rule finds wrong with a function, if anything. */
type Verdict = (node: FunctionNode, source: string) => string | undefined;

/** A rule about every function of the product. */
function rule(verdict: Verdict): Deno.lint.Rule {
  return {
    create(context) {
      const file = context.filename.slice(ROOT.length);
      if (!context.filename.startsWith(ROOT) || !PRODUCT.test(file) || /_test\.tsx?$/.test(file)) {
        return {};
      }
      const check = (node: FunctionNode): void => {
        const wrong = verdict(node, context.sourceCode.text);
        if (wrong !== undefined) context.report({ node, message: `This function has ${wrong}` });
      };
      return {
        FunctionDeclaration: check,
        FunctionExpression: check,
        ArrowFunctionExpression: check,
      };
    },
  };
}

/** Rules about the sizes of functions, for `deno lint`. */
export default {
  name: "gates",
  rules: {
    "function-lines": rule(({ range: [start, end] }, source) => {
      const { length } = source.slice(start, end).split("\n");
      return length > MAX_LINES ? `${length} lines, more than ${MAX_LINES}` : undefined;
    }),
    "function-parameters": rule(({ params: { length } }) =>
      length > MAX_PARAMETERS ? `${length} parameters, more than ${MAX_PARAMETERS}` : undefined
    ),
  },
} satisfies Deno.lint.Plugin;
