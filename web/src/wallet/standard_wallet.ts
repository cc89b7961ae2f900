import { getWallets } from "@wallet-standard/app";
import type { Wallet } from "./wallet.ts";

/** An account of a wallet program, as much of it as is used here. */
interface StandardAccount {
  readonly address: string;
  readonly chains: readonly string[];
}

interface Connect {
  connect(
    input?: { silent?: boolean },
  ): Promise<{ accounts: readonly StandardAccount[] }>;
}

interface SignPersonalMessage {
  signPersonalMessage(
    input: { message: Uint8Array; account: StandardAccount; chain?: string },
  ): Promise<{ signature: string }>;
}

interface SignTransaction {
  signTransaction(
    input: {
      transaction: { toJSON(): Promise<string> };
      account: StandardAccount;
      chain: string;
    },
  ): Promise<{ bytes: string; signature: string }>;
}

/** A wallet program that can prove an address to us. */
export interface WalletProgram {
  /** Its name. */
  readonly name: string;
  /** Its picture, a `data:` address. */
  readonly icon: string;
  /** Asks it for an address; `silent`: without asking the user. */
  connect(
    options?: { silent?: boolean; address?: string },
  ): Promise<Wallet | undefined>;
}

const hasMethod = <T>(value: unknown, name: string): value is T =>
  typeof value === "object" && value !== null && name in value;

function programOf(
  wallet: ReturnType<ReturnType<typeof getWallets>["get"]>[number],
) {
  const features = wallet.features as Readonly<Record<string, unknown>>;
  const connecting = features["standard:connect"];
  const signing = features["sui:signPersonalMessage"];
  if (!wallet.chains.some((chain) => chain.startsWith("sui:"))) {
    return undefined;
  }
  if (!hasMethod<Connect>(connecting, "connect")) return undefined;
  if (!hasMethod<SignPersonalMessage>(signing, "signPersonalMessage")) {
    return undefined;
  }
  const program: WalletProgram = {
    name: wallet.name,
    icon: wallet.icon,
    async connect({ silent = false, address } = {}) {
      const { accounts } = await connecting.connect(silent ? { silent } : {});
      const account = accounts.find((item) => item.address.toLowerCase() === address) ??
        (address === undefined ? accounts[0] : undefined);
      if (account === undefined) return undefined;
      return {
        kind: "standard",
        name: wallet.name,
        address: account.address.toLowerCase(),
        async signPersonalMessage(text) {
          const message = new TextEncoder().encode(text);
          const chain = account.chains.find((item) => item.startsWith("sui:"));
          const input = {
            message,
            account,
            ...(chain === undefined ? {} : { chain }),
          };
          return (await signing.signPersonalMessage(input)).signature;
        },
        async signTransaction(transaction, network) {
          const feature = features["sui:signTransaction"];
          if (!hasMethod<SignTransaction>(feature, "signTransaction")) {
            throw new Error(`${wallet.name} cannot sign transactions`);
          }
          const signed = await feature.signTransaction({
            transaction: { toJSON: () => transaction.json() },
            account,
            chain: `sui:${network}`,
          });
          return {
            bytes: Uint8Array.fromBase64(signed.bytes),
            signature: signed.signature,
          };
        },
      };
    },
  };
  return program;
}

/** The wallet programs that announced themselves to this page (Wallet Standard). */
export function walletPrograms(): WalletProgram[] {
  return getWallets().get().map(programOf).filter((program) => program !== undefined);
}

/** Calls back when a wallet program comes or goes; answers how to stop. */
export function onWalletPrograms(changed: () => void): () => void {
  const wallets = getWallets();
  const stops = [
    wallets.on("register", changed),
    wallets.on("unregister", changed),
  ];
  return () => stops.forEach((stop) => stop());
}
