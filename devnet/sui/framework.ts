import { bcs } from "@mysten/sui/bcs";
import type { Chain } from "./chain.ts";
import { Abort, ExecutionFailure } from "./failure.ts";
import type { FunctionSignature } from "./functions.ts";
import { IMMUTABLE, ownedBy, SHARED } from "./object.ts";
import { objectId, parsePure } from "./value.ts";

const CONTEXT = "0x2::tx_context::TxContext";
const STRING = "0x1::string::String";
const OPTION = "0x1::option::Option<$0>";
const UID = "0x2::object::UID";
const ID = "0x2::object::ID";
const NAME = "copy drop store";
const BYTES = "vector<u8>";

/** `name: parameters -> results`, and the abilities of each type parameter. */
type Row = readonly [
  target: string,
  parameters: readonly string[],
  returns?: readonly string[],
  typeParameters?: readonly string[],
];

/**
 * Public functions of the framework (packages 0x1 and 0x2) that contracts of this project may
 * import, as published on Sui. They are described, not callable: there is no Move VM.
 */
const DESCRIBED: readonly Row[] = [
  ["0x1::vector::empty", [], ["vector<$0>"], [""]],
  ["0x1::vector::length", ["&vector<$0>"], ["u64"], [""]],
  ["0x1::vector::borrow", ["&vector<$0>", "u64"], ["&$0"], [""]],
  ["0x1::vector::borrow_mut", ["&mut vector<$0>", "u64"], ["&mut $0"], [""]],
  ["0x1::vector::push_back", ["&mut vector<$0>", "$0"], [], [""]],
  ["0x1::vector::pop_back", ["&mut vector<$0>"], ["$0"], [""]],
  ["0x1::vector::destroy_empty", ["vector<$0>"], [], [""]],
  ["0x1::vector::swap", ["&mut vector<$0>", "u64", "u64"], [], [""]],
  ["0x1::vector::append", ["&mut vector<$0>", "vector<$0>"], [], [""]],
  ["0x1::vector::remove", ["&mut vector<$0>", "u64"], ["$0"], [""]],
  ["0x1::vector::swap_remove", ["&mut vector<$0>", "u64"], ["$0"], [""]],
  ["0x1::vector::contains", ["&vector<$0>", "&$0"], ["bool"], [""]],
  ["0x1::vector::is_empty", ["&vector<$0>"], ["bool"], [""]],
  ["0x1::option::none", [], [OPTION], [""]],
  ["0x1::option::some", ["$0"], [OPTION], [""]],
  ["0x1::option::is_none", [`&${OPTION}`], ["bool"], [""]],
  ["0x1::option::is_some", [`&${OPTION}`], ["bool"], [""]],
  ["0x1::option::contains", [`&${OPTION}`, "&$0"], ["bool"], [""]],
  ["0x1::option::borrow", [`&${OPTION}`], ["&$0"], [""]],
  ["0x1::option::extract", [`&mut ${OPTION}`], ["$0"], [""]],
  ["0x1::option::destroy_some", [OPTION], ["$0"], [""]],
  ["0x1::option::to_vec", [OPTION], ["vector<$0>"], [""]],
  ["0x1::string::utf8", [BYTES], [STRING]],
  ["0x1::string::length", [`&${STRING}`], ["u64"]],
  ["0x1::string::as_bytes", [`&${STRING}`], [`&${BYTES}`]],
  ["0x1::hash::sha2_256", [BYTES], [BYTES]],
  ["0x1::bcs::to_bytes", ["&$0"], [BYTES], [""]],
  ["0x2::address::from_bytes", [BYTES], ["address"]],
  ["0x2::hash::blake2b256", [`&${BYTES}`], [BYTES]],
  ["0x2::ed25519::ed25519_verify", [`&${BYTES}`, `&${BYTES}`, `&${BYTES}`], ["bool"]],
  ["0x2::event::emit", ["$0"], [], ["copy drop"]],
  ["0x2::tx_context::sender", [`&${CONTEXT}`], ["address"]],
  ["0x2::tx_context::fresh_object_address", [`&mut ${CONTEXT}`], ["address"]],
  ["0x2::object::new", [`&mut ${CONTEXT}`], [UID]],
  ["0x2::object::delete", [UID]],
  ["0x2::object::id", ["&$0"], [ID], ["key"]],
  ["0x2::object::id_to_bytes", [`&${ID}`], [BYTES]],
  ["0x2::object::id_to_address", [`&${ID}`], ["address"]],
  ["0x2::object::id_from_address", ["address"], [ID]],
  ["0x2::object::uid_to_address", [`&${UID}`], ["address"]],
  ["0x2::object::uid_to_inner", [`&${UID}`], [ID]],
  ["0x2::object::uid_to_bytes", [`&${UID}`], [BYTES]],
  ["0x2::transfer::share_object", ["$0"], [], ["key"]],
  ["0x2::transfer::transfer", ["$0", "address"], [], ["key"]],
  ["0x2::clock::timestamp_ms", ["&0x2::clock::Clock"], ["u64"]],
  ["0x2::dynamic_field::add", [`&mut ${UID}`, "$0", "$1"], [], [NAME, "store"]],
  ["0x2::dynamic_field::borrow", [`&${UID}`, "$0"], ["&$1"], [NAME, "store"]],
  ["0x2::dynamic_field::borrow_mut", [`&mut ${UID}`, "$0"], ["&mut $1"], [NAME, "store"]],
  ["0x2::dynamic_field::remove", [`&mut ${UID}`, "$0"], ["$1"], [NAME, "store"]],
  ["0x2::dynamic_field::exists_", [`&${UID}`, "$0"], ["bool"], [NAME]],
];

const ONE_OBJECT: FunctionSignature = { parameters: ["$0"], typeParameters: ["key store"] };

/** The parts of the framework that transactions call: coins, transfers, upgrade capabilities. */
export function installFramework(chain: Chain): void {
  for (const id of ["0x1", "0x2"]) chain.publish(id);
  for (const [target, parameters, returns = [], typeParameters = []] of DESCRIBED) {
    chain.fn(target, () => {
      throw new ExecutionFailure("FEATURE_NOT_YET_SUPPORTED", `${target} cannot be called here`);
    }, { parameters, returns, typeParameters });
  }
  chain.fn("0x2::coin::destroy_zero", (tx, [coin]) => {
    const id = objectId(coin);
    if (tx.coinBalance(id) !== 0n) throw new Abort(0, "0x2::balance::destroy_zero");
    tx.del(id);
  }, { parameters: ["0x2::coin::Coin<$0>"], typeParameters: [""] });
  chain.fn("0x2::transfer::public_transfer", (tx, [object, to]) => {
    tx.put({ ...tx.get(objectId(object)), owner: ownedBy(parsePure(bcs.Address, to)) });
  }, { parameters: ["$0", "address"], typeParameters: ["key store"] });
  chain.fn("0x2::transfer::public_freeze_object", (tx, [object]) => {
    tx.put({ ...tx.get(objectId(object)), owner: IMMUTABLE });
  }, ONE_OBJECT);
  chain.fn("0x2::transfer::public_share_object", (tx, [object]) => {
    tx.put({ ...tx.get(objectId(object)), owner: SHARED });
  }, ONE_OBJECT);
  chain.fn("0x2::package::make_immutable", (tx, [cap]) => tx.del(objectId(cap)), {
    parameters: ["0x2::package::UpgradeCap"],
    entry: true,
  });
}
