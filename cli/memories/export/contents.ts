import { onOneLine } from "../../../src/printable.ts";
import { counted } from "../../output.ts";

/** Code of memories that their owner's own app encrypted: nobody else has their text. */
const MANUAL = "manual_memory";
/** Most ids of memories that are not in the export that are named. */
const NAMED_IDS = 10;

/** A line of an export, parsed. */
export type ExportLine = Readonly<Record<string, unknown>>;

/** What an export has, and what it lacks. */
export class Contents {
  memories = 0;
  /** Earlier versions of them. */
  versions = 0;
  /** Earlier versions that could not be opened. */
  lostVersions = 0;
  /** Whether the relayer knows of earlier versions. */
  hasHistory = false;
  /** Whether the last line came. */
  isWhole = false;
  /** Whether any line came. */
  isBegun = false;
  /** Memories that are not in it, by the code of the reason. */
  readonly errors = new Map<string, number>();
  /** Ids of those that are there and could not be opened, or not by the relayer. */
  readonly unopened = new Set<string>();

  note({ type, code, memory_id, version, versions }: ExportLine): void {
    this.isBegun = true;
    if (type === "memory") this.memories++;
    else if (type === "version") this.versions++;
    else if (type === "end") {
      this.isWhole = true;
      this.hasHistory = versions !== undefined;
    } else if (type === "error" && version !== undefined) this.lostVersions++;
    else if (type === "error") {
      const name = String(code);
      this.errors.set(name, (this.errors.get(name) ?? 0) + 1);
      this.unopened.add(String(memory_id));
    }
  }

  /** Whether the relayer could not open what it should. */
  get isDamaged(): boolean {
    return this.lostVersions > 0 || [...this.errors.keys()].some((code) => code !== MANUAL);
  }
}

/** What is not in the export, a line for each reason. */
export function missingWords({ errors, unopened, lostVersions }: Contents): string {
  const all = [...errors.values()].reduce((sum, count) => sum + count, 0);
  const lines = [...errors].map(([code, count]) => {
    const many = counted(count, "memory is", "memories are");
    const why = code === MANUAL
      ? "the app that saved it encrypted it, and only that app can read it"
      : `it could not be opened (${onOneLine(code)})`;
    return `${many} not in it: ${why}.\n`;
  });
  const ids = [...unopened].slice(0, NAMED_IDS).map(onOneLine);
  const more = unopened.size > ids.length ? ", …" : "";
  const lost = lostVersions === 0
    ? ""
    : `${counted(lostVersions, "earlier version")} could not be opened.\n`;
  return lines.join("") + (all > 0 ? `  ${ids.join(", ")}${more}\n` : "") + lost;
}
