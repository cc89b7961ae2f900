/**
 * Registers tests against a real server when the variable names one, else one ignored test that
 * says what is missing.
 */
export function live(variable: string, register: (value: string) => void): void {
  const value = Deno.env.get(variable);
  if (value !== undefined && value !== "") register(value);
  else {Deno.test({
      name: `against the real thing (${variable} is not set)`,
      ignore: true,
      fn() {},
    });}
}
