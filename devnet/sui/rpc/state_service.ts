import { GrpcTypes } from "@mysten/sui/grpc";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import type { Chain } from "../chain.ts";
import { coinBalance, coinTypeOf, SUI_TYPE } from "../coin.ts";
import { RpcFault } from "../failure.ts";
import { type ChainObject, normalizeType } from "../object.ts";
import { mask } from "./field_mask.ts";
import { type RpcMethod, unary } from "./method.ts";
import { lieAbout, objectMessage } from "./object_message.ts";
import { pageOf } from "./pages.ts";

const FIELD_PATHS = ["parent", "field_id"];
const OWNED_PATHS = ["object_id", "version", "object_type"];

function address(text: string | undefined): string {
  if (text === undefined || text === "") {
    throw new RpcFault("INVALID_ARGUMENT", "an address is missing");
  }
  return normalizeSuiAddress(text);
}

/** Whether an object is of a type; without type parameters it matches every instantiation. */
function isOfType(object: ChainObject, wanted: string): boolean {
  return object.type === wanted || object.type.startsWith(`${wanted}<`);
}

function listOwned(
  chain: Chain,
  request: GrpcTypes.ListOwnedObjectsRequest,
  wrong: boolean,
): GrpcTypes.ListOwnedObjectsResponse {
  let wanted: string | undefined;
  try {
    wanted = request.objectType ? normalizeType(request.objectType) : undefined;
  } catch {
    throw new RpcFault("INVALID_ARGUMENT", "invalid object_type");
  }
  const all = chain.objects.ownedBy(address(request.owner))
    .filter((object) => wanted === undefined || isOfType(object, wanted));
  const { items, next } = pageOf(all, request.pageSize, request.pageToken);
  const readMask = request.readMask ?? { paths: OWNED_PATHS };
  return {
    objects: items.map((object) => objectMessage(wrong ? lieAbout(object) : object, readMask)),
    ...(next === undefined ? {} : { nextPageToken: next }),
  };
}

function listFields(
  chain: Chain,
  request: GrpcTypes.ListDynamicFieldsRequest,
): GrpcTypes.ListDynamicFieldsResponse {
  const parent = address(request.parent);
  const all = chain.objects.childrenOf(parent).filter(({ field }) => field !== undefined);
  const { items, next } = pageOf(all, request.pageSize, request.pageToken);
  const paths = request.readMask?.paths ?? FIELD_PATHS;
  const dynamicFields = items.flatMap((object) => {
    const { field } = object;
    if (field === undefined) return [];
    return mask(GrpcTypes.DynamicField, {
      kind: GrpcTypes.DynamicField_DynamicFieldKind.FIELD,
      parent,
      fieldId: object.id,
      fieldObject: objectMessage(object, { paths: ["*"] }),
      name: { name: field.nameType, value: field.name },
      value: { name: field.valueType, value: object.bcs.slice(32 + field.name.length) },
      valueType: field.valueType,
    }, paths);
  });
  return { dynamicFields, ...(next === undefined ? {} : { nextPageToken: next }) };
}

function balance(coinType: string, sum: bigint): GrpcTypes.Balance {
  return { coinType, balance: sum, coinBalance: sum, addressBalance: 0n };
}

function listBalances(
  chain: Chain,
  request: GrpcTypes.ListBalancesRequest,
): GrpcTypes.ListBalancesResponse {
  const sums = new Map<string, bigint>();
  for (const object of chain.objects.ownedBy(address(request.owner))) {
    const coinType = coinTypeOf(object.type);
    if (coinType === undefined) continue;
    sums.set(coinType, (sums.get(coinType) ?? 0n) + coinBalance(object));
  }
  return { balances: [...sums].map(([coinType, sum]) => balance(coinType, sum)) };
}

/** What is known of a currency; both of the devnet's have 9 decimals. */
function coinInfo(request: GrpcTypes.GetCoinInfoRequest): GrpcTypes.GetCoinInfoResponse {
  const coinType = normalizeType(request.coinType ?? SUI_TYPE);
  const symbol = coinType.split("::").at(-1) ?? "";
  return { coinType, metadata: { decimals: 9, name: symbol, symbol, description: "" } };
}

/** Methods of StateService. */
export function stateService(chain: Chain): RpcMethod[] {
  return [
    unary(
      "StateService/ListOwnedObjects",
      GrpcTypes.ListOwnedObjectsRequest,
      GrpcTypes.ListOwnedObjectsResponse,
      (request, { wrong }) => listOwned(chain, request, wrong),
    ),
    unary(
      "StateService/ListDynamicFields",
      GrpcTypes.ListDynamicFieldsRequest,
      GrpcTypes.ListDynamicFieldsResponse,
      (request) => listFields(chain, request),
    ),
    unary(
      "StateService/GetBalance",
      GrpcTypes.GetBalanceRequest,
      GrpcTypes.GetBalanceResponse,
      (request) => {
        const coinType = normalizeType(request.coinType ?? SUI_TYPE);
        return { balance: balance(coinType, chain.balanceOf(address(request.owner), coinType)) };
      },
    ),
    unary(
      "StateService/ListBalances",
      GrpcTypes.ListBalancesRequest,
      GrpcTypes.ListBalancesResponse,
      (request) => listBalances(chain, request),
    ),
    unary(
      "StateService/GetCoinInfo",
      GrpcTypes.GetCoinInfoRequest,
      GrpcTypes.GetCoinInfoResponse,
      coinInfo,
    ),
  ];
}
