import { useEffect, useRef, useState } from "preact/hooks";

/**
 * Whether an element was in sight for a while without a break: in a page that is shown, not
 * scrolled away. A click that was meant for something else comes sooner.
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
      if (inView && document.visibilityState === "visible") {
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
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      document.removeEventListener("visibilitychange", update);
    };
  }, [ms]);
  return { ref, visible };
}
