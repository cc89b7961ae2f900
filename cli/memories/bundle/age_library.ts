import { LATER } from "../../../src/later.ts";

/** What is used of the library of age. */
export type AgeLibrary = Pick<typeof import("age-encryption"), "Decrypter" | "Encrypter">;

let inside: (() => Promise<AgeLibrary>) | undefined;

/** For programs that have the library inside: others fetch it when it is wanted. */
export function haveAgeInside(load: () => Promise<AgeLibrary>): void {
  inside = load;
}

/** The library of age, which most commands do without. */
export async function ageLibrary(): Promise<AgeLibrary> {
  if (inside !== undefined) return await inside();
  return await import(`./age_packages.ts${LATER}`) as AgeLibrary;
}
