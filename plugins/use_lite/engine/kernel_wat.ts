/** Heights of the blocks of the result that are held in registers, each 8 columns wide. */
const BLOCK_ROWS = [4, 6] as const;

const VECTORS = [0, 1];

const get = (name: string) => `(local.get $${name})`;
const set = (name: string, value: string) => `(local.set $${name} ${value})`;
const add = (a: string, b: string) => `(i32.add ${a} ${b})`;
const both = (line: (vector: number) => string) => VECTORS.map(line).join(" ");

/**
 * WebAssembly text of the matrix product `Kernel.multiply` describes, with addresses and strides
 * in bytes: `multiply4` and `multiply6`, which differ in the height of their blocks. `relaxed`
 * uses the fused multiply-add of the relaxed SIMD extension.
 */
export function kernelWat(relaxed: boolean): string {
  const functions = BLOCK_ROWS.map((rows) => product(rows, relaxed));
  return `(module (memory (import "env" "memory") 1)\n${functions.join("\n")})`;
}

/**
 * The last block of rows is moved back so that it ends with the matrix; only a matrix lower than
 * one block is overrun.
 */
function product(height: number, relaxed: boolean): string {
  const each = (line: (row: number) => string) =>
    Array.from({ length: height }, (_, row) => line(row)).join("\n");
  const multiplyAdd = (sum: string, x: string, y: string) =>
    relaxed
      ? set(sum, `(f32x4.relaxed_madd ${x} ${y} ${get(sum)})`)
      : set(sum, `(f32x4.add ${get(sum)} (f32x4.mul ${x} ${y}))`);
  return `(func (export "multiply${height}")
(param $a i32) (param $b i32) (param $bias i32) (param $c i32)
(param $rows i32) (param $depth i32) (param $columns i32) (param $lda i32) (param $ldc i32)
(local $i i32) (local $p i32) (local $pb i32) (local $pc i32) (local $last i32)
(local $x v128) (local $b0 v128) (local $b1 v128)
${each((r) => `(local $a${r} i32) (local $s${r}0 v128) (local $s${r}1 v128)`)}
${
    set(
      "last",
      `(select (i32.sub ${get("rows")} (i32.const ${height})) (i32.const 0)
        (i32.gt_s ${get("rows")} (i32.const ${height})))`,
    )
  }
(loop $panel
  ${set("i", "(i32.const 0)")}
  (loop $block
    ${set("i", `(select ${get("i")} ${get("last")} (i32.lt_s ${get("i")} ${get("last")}))`)}
    ${set("a0", add(get("a"), `(i32.mul ${get("i")} ${get("lda")})`))}
    ${each((r) => r === 0 ? "" : set(`a${r}`, add(get(`a${r - 1}`), get("lda"))))}
    ${each((r) => both((v) => set(`s${r}${v}`, `(v128.load offset=${v * 16} ${get("bias")})`)))}
    ${set("pb", get("b"))}
    ${set("p", get("depth"))}
    (loop $depth
      ${both((v) => set(`b${v}`, `(v128.load offset=${v * 16} ${get("pb")})`))}
      ${
    each((r) =>
      set("x", `(v128.load32_splat ${get(`a${r}`)})`) +
      both((v) => multiplyAdd(`s${r}${v}`, get("x"), get(`b${v}`))) +
      set(`a${r}`, add(get(`a${r}`), "(i32.const 4)"))
    )
  }
      ${set("pb", add(get("pb"), "(i32.const 32)"))}
      (br_if $depth (local.tee $p (i32.sub ${get("p")} (i32.const 1)))))
    ${set("pc", add(get("c"), `(i32.mul ${get("i")} ${get("ldc")})`))}
    ${
    each((r) =>
      both((v) => `(v128.store offset=${v * 16} ${get("pc")} ${get(`s${r}${v}`)})`) +
      set("pc", add(get("pc"), get("ldc")))
    )
  }
    (br_if $block (i32.lt_s
      (local.tee $i ${add(get("i"), `(i32.const ${height})`)}) ${get("rows")})))
  ${set("b", get("pb"))}
  ${set("bias", add(get("bias"), "(i32.const 32)"))}
  ${set("c", add(get("c"), "(i32.const 32)"))}
  (br_if $panel (i32.gt_s
    (local.tee $columns (i32.sub ${get("columns")} (i32.const 8))) (i32.const 0)))))`;
}
