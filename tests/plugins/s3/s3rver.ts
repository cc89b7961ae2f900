/** Serves a folder by the npm package s3rver, on a port that the system chooses, and prints it. */
import S3rver from "s3rver";

const [directory = ""] = Deno.args;
const server = new S3rver({
  address: "127.0.0.1",
  port: 0,
  silent: true,
  directory,
  configureBuckets: [{ name: "memories" }],
});
const { port } = await server.run();
Deno.stdout.writeSync(new TextEncoder().encode(`${port}\n`));
