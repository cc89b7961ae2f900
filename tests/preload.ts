// Every answer of a relayer that a test fetches is checked against the table of routes.
const platform = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const response = await platform(input, init);
  // Relayers alone send it; the table is loaded when it is needed.
  if (!response.headers.has("x-request-id")) return response;
  const { watched } = await import("./checked_answers.ts");
  const method = init?.method ?? (input instanceof Request ? input.method : "GET");
  return watched(response, method.toUpperCase(), response.url);
};
