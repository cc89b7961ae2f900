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
