/** Whether a text has the form of a recipient of age, `age1…` (https://age-encryption.org/v1). */
export function isAgeRecipient(text: string): boolean {
  return /^age1[02-9a-z]{20,}$/.test(text);
}

/** The identities in a text as age keeps them: one a line, with comments in between. */
export function ageIdentitiesIn(text: string): string[] {
  return text.split(/\r?\n/).map((line) => line.trim())
    .filter((line) => /^AGE-SECRET-KEY-1[0-9A-Z]+$/i.test(line));
}
