import { crashAt } from "./failpoints.ts";

for (const point of ["index", "blob", "done"]) {
  Deno.test(`a crash at ${point} loses nothing and doubles nothing`, () => crashAt(point));
}
