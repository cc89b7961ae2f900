/** Texts that are kept: of the two that are compared one stays the same. */
const KEPT = 2;

/** What is made of a text, made once for one that is compared with several others in turn. */
export function lately<T extends object | string>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>();
  return (text) => {
    const known = made.get(text);
    const found = known ?? make(text);
    if (known !== undefined) made.delete(text);
    made.set(text, found);
    if (made.size > KEPT) made.delete(made.keys().next().value!);
    return found;
  };
}
