/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useId } from "preact/hooks";

/** What a key may do. */
export type Permissions = readonly ("read" | "write" | "manage")[];

const CHOICES: readonly {
  name: string;
  hint: string;
  permissions: Permissions;
}[] = [
  {
    name: "Everything",
    hint: "also corrects and forgets, when you confirm",
    permissions: ["read", "write", "manage"],
  },
  {
    name: "Read and write",
    hint: "finds memories and saves new ones",
    permissions: ["read", "write"],
  },
  {
    name: "Only read",
    hint: "finds memories, changes nothing",
    permissions: ["read"],
  },
  {
    name: "Only write",
    hint: "saves memories, finds none",
    permissions: ["write"],
  },
];

/** What new keys may do where nothing else is chosen; a contract of before knows no `manage`. */
export function usualPermissions(accounts: "local" | "chain"): Permissions {
  return CHOICES[accounts === "local" ? 0 : 1]!.permissions;
}

/** The choices that go no further than what is asked for. */
function choicesWithin(asked: Permissions) {
  const within = CHOICES.filter(({ permissions }) =>
    permissions.every((permission) => asked.includes(permission))
  );
  // Of an odd question nothing but all of it.
  return within.length > 0 ? within : [{ name: asked.join(", "), hint: "", permissions: asked }];
}

/** What is granted of what is asked for where nothing else is chosen: to read and to write. */
export function usualWithin(asked: Permissions): Permissions {
  const usual = asked.filter((permission) => permission !== "manage");
  return choicesWithin(usual.length === 0 ? asked : usual)[0]!.permissions;
}

/**
 * Lets somebody choose what a key may do.
 *
 * @param among What is asked for: no choice goes further.
 */
export function PermissionField(
  { value, onChange, among = CHOICES[0]!.permissions }: {
    value: Permissions;
    onChange: (value: Permissions) => void;
    among?: Permissions;
  },
) {
  const name = useId();
  return (
    <fieldset>
      <legend>It may</legend>
      {choicesWithin(among).map((choice) => (
        <label key={choice.name} class="choice">
          <input
            type="radio"
            name={name}
            checked={choice.permissions.join() === value.join()}
            onChange={() => onChange(choice.permissions)}
          />
          <span>
            {choice.name} <span class="quiet hint">{choice.hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** How long a key may last; 0 days is without end. */
export const EXPIRIES: readonly { days: number; name: string }[] = [
  { days: 0, name: "until you remove it" },
  { days: 1, name: "for a day" },
  { days: 30, name: "for 30 days" },
  { days: 90, name: "for 90 days" },
  { days: 365, name: "for a year" },
];

/** How long a key lasts, in days. */
export function ExpiryField(
  { value, onChange }: { value: number; onChange: (days: number) => void },
) {
  return (
    <label>
      It works
      <select
        value={String(value)}
        onChange={(event) => onChange(Number(event.currentTarget.value))}
      >
        {EXPIRIES.map(({ days, name }) => <option key={days} value={String(days)}>{name}</option>)}
      </select>
    </label>
  );
}

/** What a key is bound to; empty is nothing. On a chain everybody can read it. */
export function NamespacesField(
  { value, isPublic, onChange }: {
    value: string;
    isPublic: boolean;
    onChange: (value: string) => void;
  },
) {
  const hint = useId();
  return (
    <div>
      <label>
        Only these namespaces
        <input
          value={value}
          placeholder="all of them"
          aria-describedby={hint}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      </label>
      <p id={hint} class="quiet small-text">
        Separated by commas. With <code>/</code> at its end, as in{" "}
        <code>notes/</code>, a name stands for all that begin so. For this app there are no others.
        {isPublic && " Everybody can read these names on the chain."}
      </p>
    </div>
  );
}

/** What is typed into the field, as a member of a new key. */
export function namespacesOf(typed: string): { namespaces?: string[] } {
  const names = typed.split(",").map((name) => name.trim()).filter((name) => name !== "");
  return names.length === 0 ? {} : { namespaces: names };
}

/** When a key of so many days ends, as a member of a new key. */
export function expiryOf(days: number): { expires_at?: string } {
  if (days === 0) return {};
  return { expires_at: new Date(Date.now() + days * 86_400_000).toISOString() };
}
