import { GrpcTypes } from "@mysten/sui/grpc";
import { normalizeStructTag } from "@mysten/sui/utils";

const { Ability, FunctionDescriptor_Visibility, OpenSignature_Reference, OpenSignatureBody_Type } =
  GrpcTypes;

/** A Move function's signature in parts, each as Move text with ids of 64 hex characters. */
interface SignatureParts {
  /** `public`, `friend`, `private` or `unknown`. */
  readonly visibility: string;
  /** Abilities each type parameter must have, such as `copy + drop`. */
  readonly constraints: readonly string[];
  /** Types of the parameters. */
  readonly parameters: readonly string[];
  /** Types of the results. */
  readonly returns: readonly string[];
}

/** A signature as one line, such as `public <T0: key>(&T0): 0x…2::object::ID`. */
export function signatureText(parts: SignatureParts): string {
  const { visibility, constraints, parameters, returns } = parts;
  const bounds = constraints.map((abilities, i) => `T${i}${abilities && `: ${abilities}`}`);
  const generics = bounds.length === 0 ? "" : `<${bounds.join(", ")}>`;
  const result = returns.length === 0 ? "" : `: ${returns.join(", ")}`;
  return `${visibility} ${generics}(${parameters.join(", ")})${result}`;
}

/** Abilities in the order of their declaration, and of their bits in bytecode from 1 on. */
const ABILITIES: readonly (readonly [GrpcTypes.Ability, string])[] = [
  [Ability.COPY, "copy"],
  [Ability.DROP, "drop"],
  [Ability.STORE, "store"],
  [Ability.KEY, "key"],
];

/** Abilities by name, in the order `copy`, `drop`, `store`, `key`. */
export function abilityText(has: (ability: GrpcTypes.Ability, bit: number) => boolean): string {
  return ABILITIES.filter(([ability], n) => has(ability, 1 << n)).map(([, name]) => name)
    .join(" + ");
}

function bodyText(body: GrpcTypes.OpenSignatureBody | undefined): string {
  const inner = (body?.typeParameterInstantiation ?? []).map(bodyText);
  switch (body?.type) {
    case OpenSignatureBody_Type.VECTOR:
      return `vector<${inner.join(", ")}>`;
    case OpenSignatureBody_Type.TYPE_PARAMETER:
      return `T${body.typeParameter ?? 0}`;
    case OpenSignatureBody_Type.DATATYPE: {
      const name = normalizeStructTag(body.typeName ?? "");
      return inner.length === 0 ? name : `${name}<${inner.join(", ")}>`;
    }
    default:
      return OpenSignatureBody_Type[body?.type ?? 0]?.toLowerCase() ?? "unknown";
  }
}

function openText({ reference, body }: GrpcTypes.OpenSignature): string {
  const prefix = reference === OpenSignature_Reference.MUTABLE
    ? "&mut "
    : reference === OpenSignature_Reference.IMMUTABLE
    ? "&"
    : "";
  return prefix + bodyText(body);
}

/** The signature that a node describes. */
export function describedSignature(descriptor: GrpcTypes.FunctionDescriptor): string {
  const visibility = FunctionDescriptor_Visibility[descriptor.visibility ?? 0] ?? "unknown";
  return signatureText({
    visibility: visibility.toLowerCase(),
    constraints: descriptor.typeParameters.map(({ constraints }) =>
      abilityText((ability) => constraints.includes(ability))
    ),
    parameters: descriptor.parameters.map(openText),
    returns: descriptor.returns.map(openText),
  });
}
