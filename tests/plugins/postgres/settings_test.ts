import assert from "node:assert/strict";
import { parseAddress } from "../../../plugins/postgres/settings.ts";

Deno.test("an address of a database is read as it is meant", () => {
  assert.deepEqual(parseAddress("postgres://ada:a%2Fb@db.example:6432/memories"), {
    host: "db.example",
    port: 6432,
    user: "ada",
    password: "a/b",
    database: "memories",
    encryption: "verify-full",
  });
  const here = { host: "127.0.0.1", port: 5432, user: "svc", password: "", database: "svc" };
  assert.deepEqual(parseAddress("postgresql://svc@127.0.0.1/svc"), {
    ...here,
    encryption: "disable",
  });
  assert.equal(parseAddress("postgres://svc@[::1]/svc").host, "::1");
  for (const mode of ["disable", "require", "verify-full"] as const) {
    assert.equal(parseAddress(`postgres://svc@a/b?sslmode=${mode}`).encryption, mode);
  }
});

Deno.test("what is no address is refused, and no password is told", () => {
  for (
    const wrong of [
      "",
      "a-password",
      "mysql://svc:a-password@db/svc",
      "postgres://svc:a-password@db",
      "postgres://svc:a-password@db/",
      "postgres://:a-password@db/svc",
      "postgres://db/svc?password=a-password",
      "postgres://svc:a-password@db/a/b",
      "postgres://svc:%a-password@db/svc",
      "postgres://svc:a-password@db/svc?sslmode=prefer",
      "postgres://svc:a-password@db/svc?host=/tmp",
    ]
  ) {
    assert.throws(() => parseAddress(wrong), (error: Error) => {
      assert.doesNotMatch(error.message, /a-password/);
      assert.match(error.message, /^(must|takes) /, wrong);
      return true;
    });
  }
});
