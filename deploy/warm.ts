// Fetches what a start needs into DENO_DIR, for images: starts the program once, in a folder that is
// thrown away, and stops it as soon as it is ready. The driver of PostgreSQL besides: an image whose
// file system is read-only cannot fetch it when it is chosen.
await import("../plugins/postgres/backends.ts");
const home = await Deno.makeTempDir();
const port = 8000;
const env = {
  HOME: home,
  SVC_PORT: String(port),
  SVC_WEB_PORT: "0",
  SVC_DATA_DIR: `${home}/data`,
  SVC_RELAYER_KEY_FILE: `${home}/key`,
  SVC_BACKUP_DIR: `${home}/backups`,
  SVC_FIRST_ACCOUNT: "false",
};
const args = ["run", "--lock=deno.lock", "--frozen", "--allow-all", "main.ts"];
const program = new Deno.Command(Deno.execPath(), { args: [...args, "start"], env }).spawn();
const isReady = () => fetch(`http://127.0.0.1:${port}/health`).then(({ ok }) => ok, () => false);
while (!await isReady()) await new Promise((resolve) => setTimeout(resolve, 100));
// The commands of a terminal, which the operator runs in the container.
await new Deno.Command(Deno.execPath(), { args: [...args, "status"], env }).output();
program.kill("SIGTERM");
const { success } = await program.status;
await Deno.remove(home, { recursive: true });
Deno.exit(success ? 0 : 1);
