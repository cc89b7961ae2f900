/** Starts every text that can hold it: what a scan of the disk looks for. */
export const MARK: string = "zqv" + crypto.getRandomValues(new Uint8Array(5)).toHex();

const WORDS: readonly string[] = `
  apple anchor arrow autumn bakery balcony banana basket beach bicycle blanket bottle bridge bucket
  butter button cabbage camera candle canoe carpet castle cathedral cellar chair cherry chimney
  cinema circus cliff cloud coffee compass cotton cousin cradle crane cricket crystal curtain
  dancer desert diamond doctor dolphin donkey dragon drawer dungeon eagle earring elbow elephant
  engine envelope evening falcon farmer feather ferry festival fiddle finger flower flute forest
  fountain fox freckle garden garlic ginger giraffe glacier glove goat guitar hammer harbour harvest
  hazelnut helmet hermit honey hospital hunter island jacket jungle kettle kitchen kitten ladder
  lantern lemon library lizard lobster machine magnet maple market meadow medal melon mirror
  monastery monkey morning mountain museum mushroom needle neighbour notebook nurse oak ocean
  octopus olive onion orchard orchestra owl oyster palace panther paper parrot pasture peach pearl
  pencil pepper piano picnic pigeon pilot pirate planet plum pocket poet pottery prairie prison
  pumpkin puppet pyramid quarry rabbit radio railway rainbow raven ribbon river rocket saddle sailor
  salmon sandal satin scarf school scissors sculptor senator shadow shepherd silver skeleton soldier
  spider squirrel stadium statue stocking storm summer sunset surgeon swallow sweater tailor teacher
  temple theatre thunder tiger tobacco tortoise tractor treasure trumpet tulip tunnel turkey umbrella
  uncle valley velvet village vineyard violin volcano waiter walnut wedding whale whistle widow
  window winter wizard wolf woodpecker zebra café naïve Zürich smörgåsbord
`.trim().split(/\s+/);

const MIB = 1_048_576;
const TOPIC = 8;
const encoder = new TextEncoder();
const BYTES: ReadonlyMap<string, number> = new Map(
  WORDS.map((word) => [word, encoder.encode(word).length]),
);
let made = 0;

/** A whole number from 0 below `n`. */
export function below(n: number): number {
  return Math.floor(Math.random() * n);
}

/**
 * A text of exactly so many bytes, unlike any other: a few words of its own again and again, so
 * that every part of a long one says the same.
 */
export function textOf(bytes: number): string {
  const topic = Array.from({ length: TOPIC }, () => WORDS[below(WORDS.length)]!);
  const parts = [`${MARK}x${(made++).toString(36)}`];
  let size = parts[0]!.length;
  for (let n = 0;; n++) {
    const word = topic[n % TOPIC]!;
    size += 1 + BYTES.get(word)!;
    if (size > bytes) {
      const missing = bytes - (size - 1 - BYTES.get(word)!);
      return parts.join(" ") + "z".repeat(Math.max(0, missing));
    }
    parts.push(word);
  }
}

const single = [..."abcdefghijklmnopqrstuvwxyz0123456789"];

/** A text of everyday size; now and then one of a byte, one that is staged, one of 1 MiB. */
export function someText(): string {
  const dice = Math.random();
  if (dice < 0.004) return textOf(MIB);
  if (dice < 0.03) return textOf(17_000 + below(50_000));
  if (dice < 0.05) return single.pop() ?? textOf(20);
  return textOf(40 + below(300));
}
