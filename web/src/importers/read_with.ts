import type { FoundInFile, ReadAnswer, ReadRequest } from "./answer.ts";

/** Built from `main.ts` beside it. */
const MODULE = "/importers.js";

/**
 * Reads a file of another product.
 *
 * @throws {Error} saying why nothing can be taken of it.
 */
export async function readWithImporters(request: ReadRequest): Promise<FoundInFile> {
  const worker = new Worker(MODULE, { type: "module" });
  try {
    const answer = await new Promise<ReadAnswer>((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => {
        // Said here, and not in the console as well.
        event.preventDefault();
        reject(new Error("The code that reads files of other products could not be loaded"));
      };
      worker.postMessage(request);
    });
    if ("error" in answer) throw new Error(answer.error);
    return answer.found;
  } finally {
    worker.terminate();
  }
}
