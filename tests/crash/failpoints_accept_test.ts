import { notOnPostgres } from "../test_store.ts";
import { crashAt } from "./failpoints.ts";

for (const point of ["stage", "accept", "embed", "seal"]) {
  const name = `a crash at ${point} loses nothing and doubles nothing`;
  const why = "nothing was written since accept";
  Deno.test(...notOnPostgres(name, why, point === "embed"), () => crashAt(point));
}
