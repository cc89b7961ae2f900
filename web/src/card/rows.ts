import type { FoundMemory } from "./found.ts";

/** What a row can be asked for; the texts that come back say what happened. */
export interface Changes {
  /** Deletes a memory, or answers what to ask its user first. */
  forget(memory: FoundMemory, confirmation?: string): Promise<Outcome>;
  /** Gives it another text, or answers what to ask its user first. */
  correct(memory: FoundMemory, text: string, confirmation?: string): Promise<Outcome>;
}

/** How far a change is. */
export type Outcome =
  | { readonly state: "asks"; readonly question: string; readonly confirmation: string }
  | { readonly state: "done" | "failed"; readonly words: string };

type Content = Node | string;

/** An element with texts and elements in it. Texts stay texts, whatever is in them. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  ...content: readonly Content[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  if (className !== "") made.className = className;
  made.append(...content);
  return made;
}

function button(words: string, label: string, run: () => void): HTMLButtonElement {
  const made = element("button", "", words);
  made.type = "button";
  made.setAttribute("aria-label", label);
  made.addEventListener("click", run);
  return made;
}

/** A memory in the card, and what its user does with it. */
class Row {
  readonly node: HTMLLIElement;
  readonly #memory: FoundMemory;
  readonly #changes: Changes;
  readonly #text: HTMLElement;
  readonly #actions = element("div", "actions");
  readonly #state = element("p", "state");

  constructor(memory: FoundMemory, changes: Changes | undefined) {
    this.#memory = memory;
    this.#changes = changes!;
    this.#text = element("p", "text", memory.text);
    this.#text.dir = "auto";
    this.#state.setAttribute("role", "status");
    const facts = element("p", "facts", memory.facts.join(" · "));
    this.node = element("li", "", this.#text, facts, this.#actions, this.#state);
    if (changes !== undefined && memory.id !== "") this.#offer();
  }

  /** What a button is about, for those who do not see where it is. */
  #about(words: string): string {
    return `${words}: ${this.#memory.text.slice(0, 60)}`;
  }

  #offer(): void {
    this.#actions.replaceChildren(
      button("Correct", this.#about("Correct"), () => this.#edit()),
      button("Forget", this.#about("Forget"), () => {
        void this.#run((confirmation) => this.#changes.forget(this.#memory, confirmation), () => {
          this.node.classList.add("gone");
        });
      }),
    );
  }

  #edit(): void {
    const field = element("textarea", "");
    field.value = this.#memory.text;
    field.setAttribute("aria-label", "New text");
    const save = button("Save", this.#about("Save"), () => {
      const text = field.value.trim();
      if (text === "" || text === this.#memory.text) return this.#offer();
      const correct = (confirmation?: string) =>
        this.#changes.correct(this.#memory, text, confirmation);
      void this.#run(correct, () => this.#text.replaceChildren(text));
    });
    this.#actions.replaceChildren(field, save, button("Cancel", "Cancel", () => this.#offer()));
    field.focus();
  }

  /** Makes a change, asking its user where that is needed. */
  async #run(
    change: (confirmation?: string) => Promise<Outcome>,
    done: () => void,
    confirmation?: string,
  ): Promise<void> {
    this.#actions.replaceChildren();
    this.#state.replaceChildren("…");
    const outcome = await change(confirmation);
    if (outcome.state === "asks") {
      this.#state.replaceChildren(outcome.question);
      const yes = button("Yes", this.#about("Yes"), () => {
        void this.#run(change, done, outcome.confirmation);
      });
      const no = button("No", this.#about("No"), () => {
        this.#state.replaceChildren();
        this.#offer();
      });
      this.#actions.replaceChildren(yes, no);
      return yes.focus();
    }
    this.#state.replaceChildren(outcome.words);
    if (outcome.state === "done") done();
    else this.#offer();
  }
}

/** Memories as a list. */
export function list(
  memories: readonly FoundMemory[],
  changes: Changes | undefined,
): HTMLUListElement {
  return element("ul", "", ...memories.map((memory) => new Row(memory, changes).node));
}
