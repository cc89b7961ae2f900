/**
 * Source of the scan kernel, as WebAssembly text, and the program that writes `kernel.ts`:
 * `deno run -A src/index/build_kernel.ts`.
 */
import wabt from "wabt";

/** Text for each of the four rows that are multiplied at once. */
const rows = (text: (row: number) => string): string => [0, 1, 2, 3].map(text).join("\n");

/**
 * The kernel as WebAssembly text.
 *
 * `dots_f32(base, q, out, n, dim)` writes the dot products of `n` rows of `dim` floats at `base`
 * with the vector at `q` to `out`; all three are byte offsets. Four rows lie interleaved: their first
 * four floats each, then their next four, and so on. So one load of `q` serves four rows and memory
 * is read straight on, which the processor's prefetching rewards twofold over four separate rows.
 * `n` is rounded up to a multiple of 4, and `dim` must be a multiple of 8.
 *
 * `dots_i8(base, q, out, n, dim)` does the same for rows of `dim` signed bytes, sixteen of each row
 * in turn, and writes 32-bit integers. `dim` must be a multiple of 16, and the bytes at `q` must be 0
 * to 127: with others the relaxed product means another thing on every processor.
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
  const addBytes = (row: number): string => {
    const bytes = `(v128.load offset=${row * 16} (local.get $base))`;
    const sum = `(local.get $a${row})`;
    if (relaxed) {
      return `(local.set $a${row} (i32x4.relaxed_dot_i8x16_i7x16_add_s ${bytes} (local.get $x) ${sum}))`;
    }
    const half = (part: string): string =>
      `(i32x4.dot_i16x8_s (i16x8.extend_${part}_i8x16_s (local.get $y))
        (i16x8.extend_${part}_i8x16_s (local.get $x)))`;
    return `(local.set $y ${bytes})
      (local.set $a${row} (i32x4.add ${sum} (i32x4.add ${half("low")} ${half("high")})))`;
  };
  const laneInt = (row: number, n: number): string =>
    `(i32x4.extract_lane ${n} (local.get $a${row}))`;
  const lane = (row: number, n: number): string => `(f32x4.extract_lane ${n} (local.get $a${row}))`;
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
  (func (export "dots_i8")
    (param $base i32) (param $q i32) (param $out i32) (param $n i32) (param $dim i32)
    (local $i i32) (local $x v128) (local $y v128)
    ${rows((r) => `(local $a${r} v128)`)}
    (block $done (loop $row
      (br_if $done (i32.le_s (local.get $n) (i32.const 0)))
      ${rows((r) => `(local.set $a${r} (v128.const i32x4 0 0 0 0))`)}
      (local.set $i (i32.const 0))
      (loop $column
        (local.set $x (v128.load (i32.add (local.get $q) (local.get $i))))
        ${rows(addBytes)}
        (local.set $base (i32.add (local.get $base) (i32.const 64)))
        (local.set $i (i32.add (local.get $i) (i32.const 16)))
        (br_if $column (i32.lt_u (local.get $i) (local.get $dim))))
      ${
    rows((r) =>
      `(i32.store offset=${r * 4} (local.get $out)
        (i32.add (i32.add ${laneInt(r, 0)} ${laneInt(r, 1)})
          (i32.add ${laneInt(r, 2)} ${laneInt(r, 3)})))`
    )
  }
      (local.set $out (i32.add (local.get $out) (i32.const 16)))
      (local.set $n (i32.sub (local.get $n) (i32.const 4)))
      (br $row))))
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
  return `// Generated by build_kernel.ts.

/** The scan kernel with fused multiply-add (relaxed SIMD), base64. */
export const RELAXED_KERNEL: string =
  "${build(true)}";

/** The scan kernel with SIMD only, base64. */
export const SIMD_KERNEL: string =
  "${build(false)}";
`;
}

if (import.meta.main) {
  await Deno.writeTextFile(new URL("kernel.ts", import.meta.url), await kernelModule());
}
