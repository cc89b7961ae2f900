/** The least a POST can cost here: reads the body and answers 202. Argument: port. */
const ANSWER = JSON.stringify({
  job_id: "00000000-0000-7000-8000-000000000000",
  status: "running",
  blob_id: "",
  namespace: "default",
  recallable: false,
});
const headers = { "content-type": "application/json" };

Deno.serve(
  { hostname: "127.0.0.1", port: Number(Deno.args[0]), onListen() {} },
  async (request) => {
    if (request.method === "GET") return new Response("ready");
    await request.bytes();
    return new Response(ANSWER, { status: 202, headers });
  },
);
