/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { Link } from "../navigation.tsx";
import { Notice } from "../parts/notice.tsx";
import { OwnerKeys } from "./owner_keys.tsx";

/**
 * The keys of an account that is switched off. Somebody who switched it off because of a key removes
 * that key before it works again.
 */
export function KeysWhileOff() {
  return (
    <>
      <Notice kind="warn">
        <p>Your account is switched off: no key works.</p>
        <Link to="/account">Switch it on again</Link>
      </Notice>
      <OwnerKeys />
    </>
  );
}
