/**
 * Characters that mark-up, chat templates and tool calls are made of, and those nobody sees: inside
 * of strings they are written as escapes, so that no text can look like the end of its block, like
 * another speaker, or hide.
 */
const ESCAPED = /[<>[\]{}|&`\u2028\u2029]|\p{Cc}|\p{Cf}|\p{Co}/gu;
const STRING = /"(?:[^"\\]|\\.)*"/g;

function escapeUnits(text: string): string {
  let escaped = "";
  for (let i = 0; i < text.length; i++) {
    escaped += `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`;
  }
  return escaped;
}

/** JSON on one line whose strings hold none of the characters of {@linkcode ESCAPED}. */
function escapedJson(value: unknown): string {
  return JSON.stringify(value).replace(
    STRING,
    (literal) => literal.replace(ESCAPED, escapeUnits),
  );
}

/**
 * Data for a language model: JSON between two tags whose name is drawn for this one message, so that
 * whoever wrote the data could not know it. It still is valid JSON.
 */
export function dataBlock(value: unknown): string {
  const name = `data-${crypto.getRandomValues(new Uint8Array(16)).toHex()}`;
  return `<${name}>\n${escapedJson(value)}\n</${name}>`;
}
