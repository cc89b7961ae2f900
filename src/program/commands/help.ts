export const HELP = `svc: private, portable memory for AI agents

Usage: svc [command]

Without a command it says where things stand, and what comes next.

  start                the relayer, its dashboard and its sidecar, each in a
                       sandbox of its own; --background: without a terminal
  stop, logs           end what runs in the background, show what it says
  service install      start with this machine
  update --check       whether there is a later version
  try                  see in a minute what it does
  account …            accounts and their keys: create, list, add-key,
                       remove-key, remove-all-keys
  token create         lets one app in by a single header; list, revoke
  doctor               looks at everything a relayer needs, and says what to do;
                       --public: also at its public address
  backup               everything the relayer keeps, in one encrypted file
  restore-backup <file>
                       put a backup back
  move --to postgres   bring everything to a database, or back: --to local
  key rotate           change the relayer key, also while the relayer runs
  model get <name>     fetch a model that reads other languages than English;
                       list, check
  contract publish     compile, check and publish the contract of accounts
  login                sign in with a wallet, in a browser
  logout               delete the key on this computer
  status               show account, key and relayer
  open                 open the dashboard, signed in
  activity             what was read and written, and by which key
  install <host>       add svc to an MCP host's configuration
  remember <text>      save a memory
  recall <query>       find memories by meaning
  list                 list memories, newest first
  namespaces           list namespaces
  get, history <id>    show a memory whole; its versions
  review               see what contradicts what, and decide on it
  edit <id> <text>     correct a memory; --undo goes back
  forget <id>          delete a memory; --namespace: a whole namespace
  receipt <id>         what the relayer signs about a deletion; verify it
  ask, analyze <text>  answer from memories; save the facts in a text
  eval                 measure recall on questions of your own
  export, import       write every memory out; take memories in
  restore              put back what recall should find and does not
  completions <shell>  what makes bash, zsh, fish or powershell complete these

  serve                the relayer alone, with the permissions of this process
  sidecar              the sidecar alone; token from SIDECAR_AUTH_TOKEN

  --print-config       the settings in force; secrets stay secret
  --print-settings     what every setting means, also those of chosen plugins
  --print-permissions  what the relayer and the sidecar may do
  --help, --version

Settings are environment variables: docs/configuration.md lists them.
`;
