/**
 * One question of a kind at a time: who asks while one is under way shares the next one, whose answer is
 * of a moment after everybody asked.
 */
export class SharedQuestions {
  readonly #underWay = new Map<string, { now: Promise<void>; next?: Promise<void> }>();

  /** Asks, or waits for the question that is asked next under this key. */
  ask(key: string, question: () => Promise<void>): Promise<void> {
    const under = this.#underWay.get(key);
    if (under === undefined) return this.#run(key, question);
    const again = () => this.#run(key, question);
    return under.next ??= under.now.then(again, again);
  }

  #run(key: string, question: () => Promise<void>): Promise<void> {
    const under: { now: Promise<void>; next?: Promise<void> } = { now: question() };
    this.#underWay.set(key, under);
    under.now = under.now.finally(() => {
      if (under.next === undefined) this.#underWay.delete(key);
    });
    return under.now;
  }
}
