/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { count } from "../../text/format.ts";
import { hasHiddenBlanks, namespaceName } from "../../text/namespace_name.ts";
import { useSession } from "../../use_session.ts";

/** Asks for the name of the namespace that is to be forgotten. */
function ForgetDialog({ namespace, total, onForget, onClose }: {
  namespace: string;
  total: number;
  onForget: () => Promise<void>;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState("");
  const name = <bdi class="exact">{namespaceName(namespace)}</bdi>;
  return (
    <ConfirmDialog
      title={`Forget ${count(total, "memory", "memories")}?`}
      action="Forget everything"
      onConfirm={async () => {
        if (typed !== namespace) throw new Error("The name does not match");
        await onForget();
      }}
      onClose={onClose}
    >
      <p>
        Everything in {name}{" "}
        is deleted, with all earlier versions, for every app. This cannot be undone. Type the name
        of the namespace to go on.
      </p>
      {hasHiddenBlanks(namespace) && (
        <p>Its blanks belong to the name; the quotes around it do not.</p>
      )}
      <label>
        Namespace
        <input
          value={typed}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
    </ConfirmDialog>
  );
}

/** Deletes everything in a namespace, once its name was typed. */
export function Forget({ namespace, total, onChanged }: {
  namespace: string;
  total: number;
  onChanged: () => void;
}) {
  const session = useSession();
  const [asking, setAsking] = useState(false);
  async function forget(): Promise<void> {
    const answer = await session.ask((client) => client.forget(namespace));
    const { deleted } = answer;
    const what = deleted === undefined ? "Everything" : count(deleted, "memory", "memories");
    session.deletions.report(`${what} in ${namespaceName(namespace)} deleted for good`, answer);
    onChanged();
  }
  return (
    <div class="stack">
      <h3>
        Forget everything in <bdi class="exact">{namespaceName(namespace)}</bdi>
      </h3>
      <p class="quiet">Deletes all memories of this namespace, also those being saved.</p>
      <button type="button" class="button danger" onClick={() => setAsking(true)}>
        Forget…
      </button>
      {asking && (
        <ForgetDialog
          namespace={namespace}
          total={total}
          onForget={forget}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}
