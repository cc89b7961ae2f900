/** The entry of a list next to the one that holds an element. */
export function neighbourOf(element: Element | null): Element | null {
  const item = element?.closest("li");
  return item?.nextElementSibling ?? item?.previousElementSibling ?? null;
}

/** Gives the focus to a neighbour of what was deleted: whoever goes by the keyboard stays there. */
export function focusOn(neighbour: Element | null): void {
  const buttons = neighbour?.isConnected ? neighbour.querySelectorAll("button") : [];
  const last = neighbour?.querySelector<HTMLElement>("button[data-delete]");
  (last ?? [...buttons].at(-1) ?? document.getElementById("main"))?.focus();
}

/** Gives the focus to a neighbour, once what had it is gone from the page. */
export function focusOnceGone(neighbour: Element | null): void {
  setTimeout(() => document.activeElement === document.body && focusOn(neighbour));
}

/** The card of a memory, where it is shown. */
export function cardOf(memoryId: string): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>(`[data-memory="${CSS.escape(memoryId)}"]`)]
    .find((card) => card.offsetParent !== null);
}

/** Gives the focus to the card of a memory, once it is drawn anew. */
export function focusOnCard(memoryId: string): void {
  setTimeout(() => {
    const card = cardOf(memoryId);
    if (card !== undefined) card.tabIndex = -1;
    (card ?? document.getElementById("main"))?.focus();
  });
}
