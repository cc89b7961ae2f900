import { watched } from "./watched_answers.ts";

// Every answer of a relayer that a test fetches is checked against the table of routes.
const platform = globalThis.fetch;

globalThis.fetch = (input, init) => {
  const answer = platform(input, init);
  const method = init?.method ?? (input instanceof Request ? input.method : "GET");
  // The promise itself, so that nothing comes later than without this.
  answer.then((response) => {
    // Relayers and sidecars alone send it.
    if (response.headers.has("x-request-id")) watched(response, method.toUpperCase(), response.url);
  }, () => {});
  return answer;
};
