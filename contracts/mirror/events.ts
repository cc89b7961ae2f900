import { bcs } from "@mysten/sui/bcs";

/** BCS of the events of `svc::account`, by name. Every one begins with the account's id. */
export const EVENTS = {
  AccountCreated: bcs.struct("AccountCreated", { account_id: bcs.Address, owner: bcs.Address }),
  KeyAdded: bcs.struct("KeyAdded", {
    account_id: bcs.Address,
    public_key: bcs.byteVector(),
    sui_address: bcs.Address,
    permissions: bcs.u8(),
    expires_at: bcs.u64(),
  }),
  KeyRemoved: bcs.struct("KeyRemoved", {
    account_id: bcs.Address,
    public_key: bcs.byteVector(),
    generation: bcs.u64(),
  }),
  ActiveChanged: bcs.struct("ActiveChanged", {
    account_id: bcs.Address,
    active: bcs.bool(),
    generation: bcs.u64(),
  }),
  OwnershipOffered: bcs.struct("OwnershipOffered", {
    account_id: bcs.Address,
    owner: bcs.Address,
    pending_owner: bcs.option(bcs.Address),
  }),
  OwnershipTransferred: bcs.struct("OwnershipTransferred", {
    account_id: bcs.Address,
    from: bcs.Address,
    to: bcs.Address,
    generation: bcs.u64(),
  }),
  AccountClosed: bcs.struct("AccountClosed", { account_id: bcs.Address, owner: bcs.Address }),
} as const;

/** Name of an event. */
export type EventName = keyof typeof EVENTS;

/** An event: its struct's name in module `account`, and its fields. */
export type ContractEvent = {
  [Name in EventName]: {
    readonly name: Name;
    readonly fields: (typeof EVENTS)[Name]["$inferInput"];
  };
}[EventName];

/** BCS of an event's fields. */
export function encodeEvent(event: ContractEvent): Uint8Array<ArrayBuffer> {
  switch (event.name) {
    case "AccountCreated":
      return EVENTS.AccountCreated.serialize(event.fields).toBytes();
    case "KeyAdded":
      return EVENTS.KeyAdded.serialize(event.fields).toBytes();
    case "KeyRemoved":
      return EVENTS.KeyRemoved.serialize(event.fields).toBytes();
    case "ActiveChanged":
      return EVENTS.ActiveChanged.serialize(event.fields).toBytes();
    case "OwnershipOffered":
      return EVENTS.OwnershipOffered.serialize(event.fields).toBytes();
    case "OwnershipTransferred":
      return EVENTS.OwnershipTransferred.serialize(event.fields).toBytes();
    case "AccountClosed":
      return EVENTS.AccountClosed.serialize(event.fields).toBytes();
  }
}
