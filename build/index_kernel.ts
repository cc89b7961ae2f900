/**
 * Source of the scan kernel, as WebAssembly text, and the program that writes `kernel.ts`:
 * `deno run -A build/index_kernel.ts`.
 */
import wabt from "wabt";
import { LEAST_SCALE } from "../src/index/vectors/least_scale.ts";

/** Text for each of the four rows that are multiplied at once. */
const rows = (text: (row: number) => string): string => [0, 1, 2, 3].map(text).join("\n");
/** Text for each of the four places that bytes are read from in turn. */
const places = rows;

/** Code that adds the product of two vectors of floats to a variable. */
function addProduct(acc: string, x: string, y: string): string {
  return `(local.set ${acc} (f32x4.relaxed_madd ${x} ${y} (local.get ${acc})))`;
}

/** Code that reads bytes of a row from a place, and adds their product with \`$x\` to its sum. */
function addBytes(place: number, row: number): string {
  const bytes = `(v128.load offset=${row * 16} (local.get $p${place}))`;
  const acc = `$a${4 * place + row}`;
  const sum = `(local.get ${acc})`;
  return `(local.set ${acc} (i32x4.relaxed_dot_i8x16_i7x16_add_s ${bytes} (local.get $x) ${sum}))`;
}

/** One of the four floats of a variable. */
const lane = (name: string, n: number): string => `(f32x4.extract_lane ${n} (local.get $${name}))`;

/** The sum of a variable's four floats. */
const sumOf = (name: string): string =>
  `(f32.add (f32.add ${lane(name, 0)} ${lane(name, 1)}) (f32.add ${lane(name, 2)} ${
    lane(name, 3)
  }))`;

/** The sum of a variable's four integers. */
function sumOfIntegers(name: string): string {
  const lane = (n: number): string => `(i32x4.extract_lane ${n} (local.get $${name}))`;
  return `(i32.add (i32.add ${lane(0)} ${lane(1)}) (i32.add ${lane(2)} ${lane(3)}))`;
}

/**
 * `dots_f32(base, q, out, n, dim)` writes the dot products of `n` rows of `dim` floats at `base`
 * with the vector at `q` to `out`; all three are byte offsets. Four rows lie interleaved: their first
 * four floats each, then their next four, and so on. So one load of `q` serves four rows and memory
 * is read straight on, which the processor's prefetching rewards twofold over four separate rows.
 * `n` is rounded up to a multiple of 4, and `dim` must be a multiple of 8.
 */
function dotsF32(): string {
  return `(func (export "dots_f32")
    (param $base i32) (param $q i32) (param $out i32) (param $n i32) (param $dim i32)
    (local $i i32) (local $bytes i32) (local $x v128) (local $y v128)
    ${rows((r) => `(local $a${r} v128) (local $b${r} v128)`)}
    (local.set $bytes (i32.shl (local.get $dim) (i32.const 2)))
    (block $done (loop $row
      (br_if $done (i32.le_s (local.get $n) (i32.const 0)))
      ${
    rows((r) =>
      `(local.set $a${r} (v128.const i32x4 0 0 0 0))
      (local.set $b${r} (v128.const i32x4 0 0 0 0))`
    )
  }
      (local.set $i (i32.const 0))
      (loop $column
        (local.set $x (v128.load (i32.add (local.get $q) (local.get $i))))
        (local.set $y (v128.load offset=16 (i32.add (local.get $q) (local.get $i))))
        ${
    rows((r) =>
      addProduct(
        `$a${r}`,
        `(v128.load offset=${r * 16} (local.get $base))`,
        "(local.get $x)",
      ) +
      addProduct(
        `$b${r}`,
        `(v128.load offset=${r * 16 + 64} (local.get $base))`,
        "(local.get $y)",
      )
    )
  }
        (local.set $base (i32.add (local.get $base) (i32.const 128)))
        (local.set $i (i32.add (local.get $i) (i32.const 32)))
        (br_if $column (i32.lt_u (local.get $i) (local.get $bytes))))
      ${
    rows((r) =>
      `(local.set $a${r} (f32x4.add (local.get $a${r}) (local.get $b${r})))
      (f32.store offset=${r * 4} (local.get $out)
        ${sumOf(`a${r}`)})`
    )
  }
      (local.set $out (i32.add (local.get $out) (i32.const 16)))
      (local.set $n (i32.sub (local.get $n) (i32.const 4)))
      (br $row))))`;
}

/**
 * `dot_f32(row, q, dim)` answers the product of one row of `dots_f32`, which starts at `row`, added up
 * in the same order: to the last bit what `dots_f32` writes.
 */
function dotF32(): string {
  return `(func (export "dot_f32") (param $row i32) (param $q i32) (param $dim i32) (result f32)
    (local $end i32) (local $a0 v128) (local $b0 v128)
    (local.set $end (i32.add (local.get $q) (i32.shl (local.get $dim) (i32.const 2))))
    (loop $column
      ${addProduct("$a0", "(v128.load (local.get $row))", "(v128.load (local.get $q))")}
      ${
    addProduct(
      "$b0",
      "(v128.load offset=64 (local.get $row))",
      "(v128.load offset=16 (local.get $q))",
    )
  }
      (local.set $row (i32.add (local.get $row) (i32.const 128)))
      (local.set $q (i32.add (local.get $q) (i32.const 32)))
      (br_if $column (i32.lt_u (local.get $q) (local.get $end))))
    (local.set $a0 (f32x4.add (local.get $a0) (local.get $b0)))
    ${sumOf("a0")})`;
}

/**
 * `dots_i8(base, q, out, n, dim)` does the same as `dots_f32` for rows of `dim` signed bytes, sixteen
 * of each row in turn, and writes 32-bit integers. It reads from four places at once, a quarter of
 * the rows apart, so that `n` is rounded up to a multiple of 16: memory that is not in a cache then
 * comes a quarter faster. `dim` must be a multiple of 16, and the bytes at `q` must be 0 to 127: with
 * others the relaxed product means another thing on every processor.
 */
function dotsI8(): string {
  return `(func (export "dots_i8")
    (param $base i32) (param $q i32) (param $out i32) (param $n i32) (param $dim i32)
    (local $i i32) (local $x v128) (local $y v128) (local $apart i32)
    ${places((p) => `(local $p${p} i32) ${rows((r) => `(local $a${4 * p + r} v128)`)}`)}
    (local.set $n (i32.shr_u (i32.add (local.get $n) (i32.const 15)) (i32.const 4)))
    (local.set $apart (i32.mul (i32.shl (local.get $n) (i32.const 2)) (local.get $dim)))
    (local.set $p0 (local.get $base))
    (local.set $p1 (i32.add (local.get $p0) (local.get $apart)))
    (local.set $p2 (i32.add (local.get $p1) (local.get $apart)))
    (local.set $p3 (i32.add (local.get $p2) (local.get $apart)))
    (local.set $apart (i32.shl (local.get $n) (i32.const 4)))
    (block $done (loop $row
      (br_if $done (i32.le_s (local.get $n) (i32.const 0)))
      ${places((p) => rows((r) => `(local.set $a${4 * p + r} (v128.const i32x4 0 0 0 0))`))}
      (local.set $i (i32.const 0))
      (loop $column
        (local.set $x (v128.load (i32.add (local.get $q) (local.get $i))))
        ${
    places((p) =>
      `${rows((r) => addBytes(p, r))}
        (local.set $p${p} (i32.add (local.get $p${p}) (i32.const 64)))`
    )
  }
        (local.set $i (i32.add (local.get $i) (i32.const 16)))
        (br_if $column (i32.lt_u (local.get $i) (local.get $dim))))
      (local.set $i (local.get $out))
      ${
    places((p) =>
      `${
        rows((r) =>
          `(i32.store offset=${r * 4} (local.get $i)
        ${sumOfIntegers(`a${4 * p + r}`)})`
        )
      }
      (local.set $i (i32.add (local.get $i) (local.get $apart)))`
    )
  }
      (local.set $out (i32.add (local.get $out) (i32.const 16)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br $row))))`;
}

/**
 * `place_row(source, floats, dim)` writes the `dim` floats at `source` as a row of `dots_f32`. `dim`
 * must be a multiple of 16.
 */
function placeRow(): string {
  return `(func (export "place_row") (param $source i32) (param $floats i32) (param $dim i32)
    (local.set $dim (i32.add (local.get $source) (i32.shl (local.get $dim) (i32.const 2))))
    (loop $column
      (v128.store (local.get $floats) (v128.load (local.get $source)))
      (local.set $floats (i32.add (local.get $floats) (i32.const 64)))
      (local.set $source (i32.add (local.get $source) (i32.const 16)))
      (br_if $column (i32.lt_u (local.get $source) (local.get $dim)))))`;
}

/**
 * `round_row(floats, bytes, out, dim)` writes a row of `dots_f32` as a row of `dots_i8`, and four
 * numbers to `out`; see `DotKernel`. `dim` must be a multiple of 16.
 */
function roundRow(): string {
  return `(func (export "round_row")
    (param $floats i32) (param $bytes i32) (param $out i32) (param $dim i32)
    (local $i i32) (local $scale f32) (local $steps v128) (local $scales v128) (local $x v128)
    (local $largest v128) (local $squares v128) (local $errors v128) (local $sums v128)
    ${rows((r) => `(local $a${r} v128)`)}
    (local.set $dim (i32.shl (local.get $dim) (i32.const 4)))
    (loop $column
      (local.set $x (v128.load (i32.add (local.get $floats) (local.get $i))))
      (local.set $largest (f32x4.max (local.get $largest) (f32x4.abs (local.get $x))))
      (local.set $squares
        (f32x4.add (local.get $squares) (f32x4.mul (local.get $x) (local.get $x))))
      (local.set $i (i32.add (local.get $i) (i32.const 64)))
      (br_if $column (i32.lt_u (local.get $i) (local.get $dim))))
    (local.set $scale (f32.div
      (f32.max
        (f32.max ${lane("largest", 0)} ${lane("largest", 1)})
        (f32.max ${lane("largest", 2)} ${lane("largest", 3)}))
      (f32.const 127)))
    (if (f32.lt (local.get $scale) (f32.const ${LEAST_SCALE}))
      (then (local.set $scale (f32.const 0)))
      (else (local.set $steps
        (f32x4.splat (f32.div (f32.const 1) (local.get $scale))))))
    (local.set $scales (f32x4.splat (local.get $scale)))
    (local.set $i (i32.const 0))
    (loop $column
      ${
    rows((r) =>
      `(local.set $x (v128.load offset=${r * 64} (i32.add (local.get $floats) (local.get $i))))
      (local.set $a${r} (f32x4.nearest (f32x4.mul (local.get $x) (local.get $steps))))
      (local.set $x (f32x4.sub (local.get $x) (f32x4.mul (local.get $a${r}) (local.get $scales))))
      (local.set $errors
        (f32x4.add (local.get $errors) (f32x4.mul (local.get $x) (local.get $x))))
      (local.set $a${r} (i32x4.trunc_sat_f32x4_s (local.get $a${r})))
      (local.set $sums (i32x4.add (local.get $sums) (local.get $a${r})))`
    )
  }
      (v128.store (local.get $bytes) (i8x16.narrow_i16x8_s
        (i16x8.narrow_i32x4_s (local.get $a0) (local.get $a1))
        (i16x8.narrow_i32x4_s (local.get $a2) (local.get $a3))))
      (local.set $bytes (i32.add (local.get $bytes) (i32.const 64)))
      (local.set $i (i32.add (local.get $i) (i32.const 256)))
      (br_if $column (i32.lt_u (local.get $i) (local.get $dim))))
    (f32.store (local.get $out) (local.get $scale))
    (local.set $sums (f32x4.convert_i32x4_s (local.get $sums)))
    ${
    ["sums", "squares", "errors"].map((name, i) =>
      `(f32.store offset=${4 + 4 * i} (local.get $out)
      ${sumOf(name)})`
    ).join("\n")
  })`;
}

/**
 * For benchmarks: `sum_read(base, bytes)` touches every byte and does nothing else, the speed no scan
 * can exceed. `bytes` must be a positive multiple of 64.
 */
export function sumRead(): string {
  return `(func (export "sum_read") (param $base i32) (param $bytes i32) (result i32)
    ${rows((r) => `(local $a${r} v128)`)}
    (loop $next
      ${
    rows((r) =>
      `(local.set $a${r}
        (i32x4.add (local.get $a${r}) (v128.load offset=${r * 16} (local.get $base))))`
    )
  }
      (local.set $base (i32.add (local.get $base) (i32.const 64)))
      (br_if $next (local.tee $bytes (i32.sub (local.get $bytes) (i32.const 64)))))
    (local.set $a0 (i32x4.add (i32x4.add (local.get $a0) (local.get $a1))
      (i32x4.add (local.get $a2) (local.get $a3))))
    ${sumOfIntegers("a0")})`;
}

/** Assembles functions over one memory. */
export async function assembled(functions: readonly string[]): Promise<Uint8Array<ArrayBuffer>> {
  const { parseWat } = await wabt();
  const text = `(module (import "env" "memory" (memory 1)) ${functions.join("\n")})`;
  const module = parseWat("kernel.wat", text, { simd: true, relaxed_simd: true });
  try {
    return new Uint8Array(module.toBinary({}).buffer);
  } finally {
    module.destroy();
  }
}

/** The text of `kernel.ts`. */
export async function kernelModule(): Promise<string> {
  const kernel = await assembled([dotsF32(), dotF32(), dotsI8(), placeRow(), roundRow()]);
  return `// Generated by build/index_kernel.ts.

/** The scan kernel with fused multiply-add (relaxed SIMD), base64. */
export const RELAXED_KERNEL: string =
  "${kernel.toBase64()}";
`;
}

if (import.meta.main) {
  await Deno.writeTextFile(
    new URL("../src/index/vectors/kernel.ts", import.meta.url),
    await kernelModule(),
  );
}
