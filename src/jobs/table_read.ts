import { SvcError } from "../errors.ts";

/**
 * What the KV table answers.
 *
 * @throws {SvcError} `storage_unavailable` when it cannot be read.
 */
export async function tableRead<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    throw new SvcError("storage_unavailable", undefined, { cause });
  }
}
