import { useEffect, useRef, useState } from "preact/hooks";

/**
 * Whether an element was in sight for a while without a break: in a page that is shown and has the
 * user's attention, not scrolled away. A click that was meant for something else comes sooner.
 *
 * @param ms How long.
 */
export function useVisibleFor<T extends Element>(ms: number) {
  const ref = useRef<T>(null);
  const [visible, setVisible] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let inView = false;
    function update(): void {
      clearTimeout(timer);
      setVisible(false);
      // A window in front of this one takes the focus, and what is clicked in it was not meant here.
      if (inView && document.visibilityState === "visible" && document.hasFocus()) {
        timer = setTimeout(() => setVisible(true), ms);
      }
    }
    const observer = new IntersectionObserver((entries) => {
      const now = entries.at(-1)?.isIntersecting ?? false;
      if (now === inView) return;
      inView = now;
      update();
    }, { threshold: 1 });
    observer.observe(element);
    document.addEventListener("visibilitychange", update);
    addEventListener("focus", update);
    addEventListener("blur", update);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      document.removeEventListener("visibilitychange", update);
      removeEventListener("focus", update);
      removeEventListener("blur", update);
    };
  }, [ms]);
  return { ref, visible };
}
