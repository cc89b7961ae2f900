import assert from "node:assert/strict";
import { homeFolder } from "../src/home_folder.ts";

Deno.test("the home folder is the one that a system's own programs use", () => {
  const both = { HOME: "/h", USERPROFILE: "C:\\u" };
  assert.equal(homeFolder(both, false), "/h");
  assert.equal(homeFolder(both, true), "C:\\u");
  assert.equal(homeFolder({ USERPROFILE: "C:\\u" }, false), "C:\\u");
  assert.equal(homeFolder({ HOME: "/h" }, true), "/h");
  assert.equal(homeFolder({}, true), "");
});
