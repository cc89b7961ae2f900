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

/**
 * The kernel as WebAssembly text.
 *
 * `dots_f32(base, q, out, n, dim)` writes the dot products of `n` rows of `dim` floats at `base`
 * with the vector at `q` to `out`; all three are byte offsets. Four rows lie interleaved: their first
 * four floats each, then their next four, and so on. So one load of `q` serves four rows and memory
 * is read straight on, which the processor's prefetching rewards twofold over four separate rows.
 * `n` is rounded up to a multiple of 4, and `dim` must be a multiple of 8.
 *
 * `dot_f32(row, q, dim)` answers the product of one such row, which starts at `row`, added up in the
 * same order: to the last bit what `dots_f32` writes.
 *
 * `dots_i8(base, q, out, n, dim)` does the same as `dots_f32` for rows of `dim` signed bytes, sixteen
 * of each row in turn, and writes 32-bit integers. It reads from four places at once, a quarter of
 * the rows apart, so that `n` is rounded up to a multiple of 16: memory that is not in a cache then
 * comes a quarter faster. `dim` must be a multiple of 16, and the bytes at `q` must be 0 to 127: with
 * others the relaxed product means another thing on every processor.
 *
 * `place_row(source, floats, dim)` writes the `dim` floats at `source` as such a row of floats, and
 * `round_row(floats, bytes, out, dim)` writes such a row of floats as such a row of bytes, and four
 * numbers to `out`; see `DotKernel`. `dim` must be a multiple of 16.
 *
 * `sum_read(base, bytes)` touches every byte and does nothing else: the speed no scan can exceed.
 * `bytes` must be a positive multiple of 64.
 *
 * @param relaxed Whether the relaxed SIMD proposal is used: fused multiply-add, products of bytes.
 */
export function kernelText(relaxed: boolean): string {
  const add = (acc: string, x: string, y: string): string =>
    relaxed
      ? `(local.set ${acc} (f32x4.relaxed_madd ${x} ${y} (local.get ${acc})))`
      : `(local.set ${acc} (f32x4.add (f32x4.mul ${x} ${y}) (local.get ${acc})))`;
  const addBytes = (place: number, row: number): string => {
    const bytes = `(v128.load offset=${row * 16} (local.get $p${place}))`;
    const acc = `$a${4 * place + row}`;
    const sum = `(local.get ${acc})`;
    if (relaxed) {
      return `(local.set ${acc} (i32x4.relaxed_dot_i8x16_i7x16_add_s ${bytes} (local.get $x) ${sum}))`;
    }
    const half = (part: string): string =>
      `(i32x4.dot_i16x8_s (i16x8.extend_${part}_i8x16_s (local.get $y))
        (i16x8.extend_${part}_i8x16_s (local.get $x)))`;
    return `(local.set $y ${bytes})
      (local.set ${acc} (i32x4.add ${sum} (i32x4.add ${half("low")} ${half("high")})))`;
  };
  const laneInt = (acc: number, n: number): string =>
    `(i32x4.extract_lane ${n} (local.get $a${acc}))`;
  const lanes = (name: string, n: number): string =>
    `(f32x4.extract_lane ${n} (local.get $${name}))`;
  const lane = (row: number, n: number): string => lanes(`a${row}`, n);
  return `(module
  (import "env" "memory" (memory 1))
  (func (export "dots_f32")
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
      add(`$a${r}`, `(v128.load offset=${r * 16} (local.get $base))`, "(local.get $x)") +
      add(`$b${r}`, `(v128.load offset=${r * 16 + 64} (local.get $base))`, "(local.get $y)")
    )
  }
        (local.set $base (i32.add (local.get $base) (i32.const 128)))
        (local.set $i (i32.add (local.get $i) (i32.const 32)))
        (br_if $column (i32.lt_u (local.get $i) (local.get $bytes))))
      ${
    rows((r) =>
      `(local.set $a${r} (f32x4.add (local.get $a${r}) (local.get $b${r})))
      (f32.store offset=${r * 4} (local.get $out)
        (f32.add (f32.add ${lane(r, 0)} ${lane(r, 1)}) (f32.add ${lane(r, 2)} ${lane(r, 3)})))`
    )
  }
      (local.set $out (i32.add (local.get $out) (i32.const 16)))
      (local.set $n (i32.sub (local.get $n) (i32.const 4)))
      (br $row))))
  (func (export "dot_f32") (param $row i32) (param $q i32) (param $dim i32) (result f32)
    (local $end i32) (local $a0 v128) (local $b0 v128)
    (local.set $end (i32.add (local.get $q) (i32.shl (local.get $dim) (i32.const 2))))
    (loop $column
      ${add("$a0", "(v128.load (local.get $row))", "(v128.load (local.get $q))")}
      ${
    add("$b0", "(v128.load offset=64 (local.get $row))", "(v128.load offset=16 (local.get $q))")
  }
      (local.set $row (i32.add (local.get $row) (i32.const 128)))
      (local.set $q (i32.add (local.get $q) (i32.const 32)))
      (br_if $column (i32.lt_u (local.get $q) (local.get $end))))
    (local.set $a0 (f32x4.add (local.get $a0) (local.get $b0)))
    (f32.add (f32.add ${lane(0, 0)} ${lane(0, 1)}) (f32.add ${lane(0, 2)} ${lane(0, 3)})))
  (func (export "dots_i8")
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
        (i32.add (i32.add ${laneInt(4 * p + r, 0)} ${laneInt(4 * p + r, 1)})
          (i32.add ${laneInt(4 * p + r, 2)} ${laneInt(4 * p + r, 3)})))`
        )
      }
      (local.set $i (i32.add (local.get $i) (local.get $apart)))`
    )
  }
      (local.set $out (i32.add (local.get $out) (i32.const 16)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br $row))))
  (func (export "place_row") (param $source i32) (param $floats i32) (param $dim i32)
    (local.set $dim (i32.add (local.get $source) (i32.shl (local.get $dim) (i32.const 2))))
    (loop $column
      (v128.store (local.get $floats) (v128.load (local.get $source)))
      (local.set $floats (i32.add (local.get $floats) (i32.const 64)))
      (local.set $source (i32.add (local.get $source) (i32.const 16)))
      (br_if $column (i32.lt_u (local.get $source) (local.get $dim)))))
  (func (export "round_row")
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
        (f32.max ${lanes("largest", 0)} ${lanes("largest", 1)})
        (f32.max ${lanes("largest", 2)} ${lanes("largest", 3)}))
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
      (f32.add
        (f32.add ${lanes(name, 0)} ${lanes(name, 1)})
        (f32.add ${lanes(name, 2)} ${lanes(name, 3)})))`
    ).join("\n")
  })
  (func (export "sum_read") (param $base i32) (param $bytes i32) (result i32)
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
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $a0)) (i32x4.extract_lane 1 (local.get $a0)))
      (i32.add (i32x4.extract_lane 2 (local.get $a0)) (i32x4.extract_lane 3 (local.get $a0))))))`;
}

/** The text of `kernel.ts`. */
export async function kernelModule(): Promise<string> {
  const { parseWat } = await wabt();
  const build = (relaxed: boolean): string => {
    const module = parseWat("kernel.wat", kernelText(relaxed), {
      simd: true,
      relaxed_simd: relaxed,
    });
    try {
      return module.toBinary({}).buffer.toBase64();
    } finally {
      module.destroy();
    }
  };
  return `// Generated by build/index_kernel.ts.

/** The scan kernel with fused multiply-add (relaxed SIMD), base64. */
export const RELAXED_KERNEL: string =
  "${build(true)}";

/** The scan kernel with SIMD only, base64. */
export const SIMD_KERNEL: string =
  "${build(false)}";
`;
}

if (import.meta.main) {
  await Deno.writeTextFile(
    new URL("../src/index/vectors/kernel.ts", import.meta.url),
    await kernelModule(),
  );
}
