/**
 * Writes models in the format of ONNX (https://onnx.ai, onnx.proto3): the few messages that an
 * encoder needs, by hand.
 */

const encoder = new TextEncoder();

function varint(value: number | bigint): number[] {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return [...bytes, Number(rest)];
}

/** A field of bytes: a text, a message, or packed numbers. */
function bytesField(field: number, bytes: Uint8Array): Uint8Array {
  const head = [...varint(field * 8 + 2), ...varint(bytes.length)];
  const all = new Uint8Array(head.length + bytes.length);
  all.set(head);
  all.set(bytes, head.length);
  return all;
}

const textField = (field: number, text: string) => bytesField(field, encoder.encode(text));

const numberField = (field: number, value: number | bigint) =>
  Uint8Array.from([...varint(field * 8), ...varint(value)]);

function floatField(field: number, value: number): Uint8Array {
  const bytes = new Uint8Array(5);
  bytes[0] = field * 8 + 5;
  new DataView(bytes.buffer).setFloat32(1, value, true);
  return bytes;
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Kinds of numbers, as `TensorProto.DataType` has them. */
const KINDS = { float: 1, int64: 7, float16: 10 } as const;
type Kind = keyof typeof KINDS;

/** An attribute of a node: whole numbers, a list of them, or a broken one. */
export type Attribute = { readonly int: number } | { readonly ints: readonly number[] } | {
  readonly float: number;
};

function attribute(name: string, value: Attribute): Uint8Array {
  if ("int" in value) {
    return join([textField(1, name), numberField(3, value.int), numberField(20, 2)]);
  }
  if ("float" in value) {
    return join([textField(1, name), floatField(2, value.float), numberField(20, 1)]);
  }
  const ints = value.ints.map((int) => numberField(8, int));
  return join([textField(1, name), ...ints, numberField(20, 7)]);
}

/** One step of the computation. */
export interface Node {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly output: string;
  readonly attributes?: Readonly<Record<string, Attribute>>;
}

function node({ op, inputs, output, attributes = {} }: Node): Uint8Array {
  return join([
    ...inputs.map((input) => textField(1, input)),
    textField(2, output),
    textField(4, op),
    ...Object.entries(attributes).map(([name, value]) => bytesField(5, attribute(name, value))),
  ]);
}

/** Numbers that the model knows, and their shape. */
export interface Weights {
  readonly name: string;
  readonly dims: readonly number[];
  readonly values: Float32Array | BigInt64Array;
  /** File beside the model that holds them, and where they begin in it. */
  readonly external?: { readonly file: string; readonly offset: number };
}

const bytesOf = (values: Float32Array | BigInt64Array) =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

function entry(key: string, value: string): Uint8Array {
  return bytesField(13, join([textField(1, key), textField(2, value)]));
}

function tensor({ name, dims, values, external }: Weights): Uint8Array {
  const kind = values instanceof Float32Array ? KINDS.float : KINDS.int64;
  const head = [...dims.map((dim) => numberField(1, dim)), numberField(2, kind)];
  if (external === undefined) {
    return join([...head, textField(8, name), bytesField(9, bytesOf(values))]);
  }
  return join([
    ...head,
    textField(8, name),
    entry("location", external.file),
    entry("offset", String(external.offset)),
    entry("length", String(values.byteLength)),
    numberField(14, 1),
  ]);
}

/** What goes in or comes out: its numbers, and its shape, names standing for any length. */
export interface Port {
  readonly name: string;
  readonly kind: Kind;
  readonly dims: readonly (number | string)[];
}

function port({ name, kind, dims }: Port): Uint8Array {
  const shape = join(
    dims.map((dim) =>
      bytesField(1, typeof dim === "number" ? numberField(1, dim) : textField(2, dim))
    ),
  );
  const type = join([numberField(1, KINDS[kind]), bytesField(2, shape)]);
  return join([textField(1, name), bytesField(2, bytesField(1, type))]);
}

/** A model: steps, numbers, and what goes in and comes out. */
export interface Graph {
  readonly nodes: readonly Node[];
  readonly weights: readonly Weights[];
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
}

/** The bytes of an ONNX file. */
export function onnxFile({ nodes, weights, inputs, outputs }: Graph): Uint8Array<ArrayBuffer> {
  const graph = join([
    ...nodes.map((each) => bytesField(1, node(each))),
    textField(2, "encoder"),
    ...weights.map((each) => bytesField(5, tensor(each))),
    ...inputs.map((each) => bytesField(11, port(each))),
    ...outputs.map((each) => bytesField(12, port(each))),
  ]);
  const opset = join([textField(1, ""), numberField(2, 17)]);
  return join([numberField(1, 8), bytesField(7, graph), bytesField(8, opset)]);
}

/** What weights in a file beside the model have in common, as that file. */
export function externalData(weights: readonly Weights[]): Uint8Array<ArrayBuffer> {
  return join(weights.filter(({ external }) => external).map(({ values }) => bytesOf(values)));
}
