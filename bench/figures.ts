/** What a figure should be; the ratios of one run are what goals are set on. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number };

/** One measured number. */
export interface Figure {
  /** What was measured. */
  readonly name: string;
  /** The number. */
  readonly value: number;
  /** Its unit; `x` = a ratio. */
  readonly unit: string;
  /** What it should be. */
  readonly goal?: Goal;
}

/** A part of the benchmark; all but `store`, `writes` and `move` stop by themselves within three minutes. */
export interface Part {
  /** Name on the command line. */
  readonly name: string;
  /** One line above its table. */
  readonly title: string;
  /** Measures; `note` shows that it still works. */
  run(note: (text: string) => void): Promise<Figure[]>;
}

/** Whether a figure meets its goal; `undefined` without one. */
export function isMet({ value, goal }: Figure): boolean | undefined {
  if (goal === undefined) return undefined;
  return "atLeast" in goal ? value >= goal.atLeast : value <= goal.atMost;
}

/** Three significant digits, whole numbers above 100. */
export function numberText(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

/** The figures of a part, one a line. */
export function tableText(title: string, figures: readonly Figure[]): string {
  const width = Math.max(...figures.map(({ name }) => name.length));
  const lines = figures.map((figure) => {
    const { name, value, unit, goal } = figure;
    const cells = [name.padEnd(width), numberText(value).padStart(9), unit.padEnd(8)];
    if (goal !== undefined) {
      const bound = "atLeast" in goal ? `>= ${goal.atLeast}` : `<= ${numberText(goal.atMost)}`;
      cells.push(`${isMet(figure) ? "met   " : "missed"} (goal ${bound})`);
    }
    return `  ${cells.join(" ")}`.trimEnd();
  });
  return [title, ...lines, ""].join("\n");
}
