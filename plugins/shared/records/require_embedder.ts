import { SvcError } from "../../../src/errors.ts";

/**
 * Refuses a vector store that was not told its embedder: it would refuse every memory later.
 *
 * @throws {SvcError} `invalid_parameter`.
 */
export function requireEmbedder(
  { dimensions, model }: { readonly dimensions: number; readonly model: string },
): void {
  if (dimensions >= 1 && model !== "") return;
  const text = "A vector store needs the dimensions and the model of the embedder: open that first";
  throw new SvcError("invalid_parameter", text);
}
