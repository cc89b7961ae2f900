import { GrpcTypes } from "@mysten/sui/grpc";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import type { Chain } from "../chain.ts";
import { RpcFault } from "../failure.ts";
import { type RpcMethod, unary } from "./method.ts";

/** Methods of MovePackageService. */
export function packageService(chain: Chain): RpcMethod[] {
  return [
    unary(
      "MovePackageService/GetFunction",
      GrpcTypes.GetFunctionRequest,
      GrpcTypes.GetFunctionResponse,
      ({ packageId = "", moduleName = "", name = "" }) => {
        const found = chain.functions.get(packageId, moduleName, name)?.descriptor;
        if (found !== undefined) return { function: found };
        throw new RpcFault("NOT_FOUND", `function ${packageId}::${moduleName}::${name} not found`);
      },
    ),
    unary(
      "MovePackageService/GetPackage",
      GrpcTypes.GetPackageRequest,
      GrpcTypes.GetPackageResponse,
      ({ packageId = "" }) => {
        const object = chain.object(normalizeSuiAddress(packageId));
        if (object?.type !== "package") {
          throw new RpcFault("NOT_FOUND", `package ${packageId} not found`);
        }
        const id = object.id;
        return {
          package: {
            storageId: id,
            originalId: id,
            version: object.version,
            modules: [],
            typeOrigins: [],
            linkage: [],
          },
        };
      },
    ),
  ];
}
