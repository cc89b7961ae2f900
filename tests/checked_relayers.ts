import { Router } from "../src/http/router.ts";
import { watched } from "./watched_answers.ts";

// Every answer of a relayer in this process is checked against the table of routes.
const { fetch } = Router.prototype;

Router.prototype.fetch = async function (request, peer) {
  const response = await fetch.call(this, request, peer);
  return watched(response, request.method, request.url);
};
