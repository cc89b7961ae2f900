import { Router } from "../src/http/router.ts";
import { watched } from "./watched_answers.ts";

// Every answer of a relayer in this process is checked against the table of routes.
const { fetch } = Router.prototype;

Router.prototype.fetch = async function (request, peer, target, isInternal) {
  const response = await fetch.call(this, request, peer, target, isInternal);
  // What goes over a connection is checked where it is fetched.
  return target === undefined ? watched(response, request.method, request.url) : response;
};
