/** Whether a name has blanks at an end, which nobody sees. */
export const hasHiddenBlanks = (namespace: string): boolean => namespace !== namespace.trim();

/** A namespace's name as it is shown: in quotes where it could be taken for another one. */
export function namespaceName(namespace: string): string {
  return hasHiddenBlanks(namespace) ? `“${namespace}”` : namespace;
}
