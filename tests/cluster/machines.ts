/** Programs that a network of machines on one machine takes. */
const TOOLS = ["/usr/sbin/ip", "/usr/sbin/nft"];

/** Addresses of a network that no other one on this machine has; of loopback all are this machine. */
class Addresses {
  readonly #network: string;
  #last = 10;

  constructor(first: 10 | 127) {
    this.#network = `${first}.231.${1 + Math.floor(Math.random() * 250)}`;
  }

  /** Of whoever looks on. */
  get outside(): string {
    return `${this.#network}.1`;
  }

  next(): string {
    return `${this.#network}.${++this.#last}`;
  }
}

/** A computer of the cluster. */
export interface Machine {
  readonly name: string;
  /** IPv4. */
  readonly address: string;
  /** A command that runs there, program first. */
  on(command: readonly string[]): readonly [string, ...string[]];
}

/** Computers with a network between them. */
export interface Machines extends AsyncDisposable {
  /** Whether each has an address of its own that others can be cut off from. */
  readonly apart: boolean;
  /** Where whoever looks on stands. */
  readonly outside: string;
  add(name: string): Promise<Machine>;
  /** An address that belongs to no machine yet. */
  reserve(): string;
  /** Gives an address to a machine; whoever had it has it no more. */
  give(address: string, to: Machine): Promise<void>;
  /** Lets no packet through between two of them, silently; only where they are apart. */
  cut(one: Machine, other: Machine): Promise<void>;
  /** Takes every cut back. */
  heal(): Promise<void>;
}

async function run(...command: readonly string[]): Promise<void> {
  const [program = "", ...args] = command;
  const { success, stderr } = await new Deno.Command(program, { args }).output();
  if (!success) throw new Error(`${command.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}

/** Everything on loopback: nothing can be cut off. */
class Loopback implements Machines {
  readonly apart = false;
  readonly outside = "127.0.0.1";
  readonly #addresses = new Addresses(127);

  reserve(): string {
    return this.#addresses.next();
  }

  add(name: string): Promise<Machine> {
    return Promise.resolve({
      name,
      address: this.reserve(),
      on: (command) => command as readonly [string, ...string[]],
    });
  }

  give(): Promise<void> {
    return Promise.resolve();
  }

  cut(): Promise<void> {
    throw new Error("On loopback nothing can be cut off");
  }

  heal(): Promise<void> {
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

/** Network namespaces of Linux, each tied to one bridge by a wire of its own. */
class Namespaces implements Machines {
  readonly apart = true;
  readonly #addresses = new Addresses(10);
  readonly outside = this.#addresses.outside;
  readonly #bridge = `svc${Deno.pid}`;
  readonly #spaces: string[] = [];
  readonly #holders = new Map<string, Machine>();
  readonly #cut = new Set<Machine>();

  /** Opens the network; `undefined` where this system refuses one. */
  static async open(): Promise<Namespaces | undefined> {
    const machines = new Namespaces();
    const probe = `${machines.#bridge}-probe`;
    try {
      await run("ip", "netns", "add", probe);
      await run("ip", "netns", "exec", probe, "nft", "add table inet cut");
    } catch {
      return undefined;
    } finally {
      await run("ip", "netns", "delete", probe).catch(() => {});
    }
    await run("ip", "link", "add", machines.#bridge, "type", "bridge");
    await run("ip", "addr", "add", `${machines.outside}/24`, "dev", machines.#bridge);
    await run("ip", "link", "set", machines.#bridge, "up");
    return machines;
  }

  reserve(): string {
    return this.#addresses.next();
  }

  async add(name: string): Promise<Machine> {
    const space = `${this.#bridge}-${name}`;
    const wire = `${this.#bridge}w${this.#spaces.push(space)}`;
    const address = this.reserve();
    await run("ip", "netns", "add", space);
    await run("ip", "link", "add", wire, "type", "veth", "peer", "name", "eth0", "netns", space);
    await run("ip", "link", "set", wire, "master", this.#bridge, "up");
    await run("ip", "-n", space, "addr", "add", `${address}/24`, "dev", "eth0");
    for (const device of ["lo", "eth0"]) {
      await run("ip", "-n", space, "link", "set", device, "up");
    }
    return { name, address, on: (command) => ["ip", "netns", "exec", space, ...command] };
  }

  async give(address: string, to: Machine): Promise<void> {
    const before = this.#holders.get(address);
    const [held, given] = [before, to].map((machine) => machine?.on(["ip", "addr"]));
    if (held !== undefined) await run(...held, "del", `${address}/24`, "dev", "eth0");
    await run(...given!, "add", `${address}/24`, "dev", "eth0");
    this.#holders.set(address, to);
    // Nobody tells the others that it is elsewhere now: they forget where it was.
    for (const space of this.#spaces) await run("ip", "-n", space, "neigh", "flush", "all");
    await run("ip", "neigh", "flush", "dev", this.#bridge);
  }

  async cut(one: Machine, other: Machine): Promise<void> {
    for (const [here, there] of [[one, other], [other, one]] as const) {
      const addresses = [there.address];
      for (const [address, holder] of this.#holders) if (holder === there) addresses.push(address);
      this.#cut.add(here);
      const rules = `table inet cut { chain in { type filter hook input priority 0;
        ip saddr { ${addresses.join()} } drop; }; }`;
      await run(...here.on(["nft", rules]));
    }
  }

  async heal(): Promise<void> {
    for (const machine of this.#cut) await run(...machine.on(["nft", "delete table inet cut"]));
    this.#cut.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const space of this.#spaces) await run("ip", "netns", "delete", space);
    await run("ip", "link", "delete", this.#bridge);
  }
}

/** Machines on this one: with networks of their own where this is root and has the tools. */
export async function openMachines(): Promise<Machines> {
  const isThere = (path: string) => Deno.stat(path).then(() => true, () => false);
  const tools = await Promise.all(TOOLS.map(isThere));
  const isAllowed = Deno.uid() === 0 && tools.every(Boolean);
  return (isAllowed ? await Namespaces.open() : undefined) ?? new Loopback();
}
