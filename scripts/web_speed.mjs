/*
 * web_speed.mjs [NATIVE]: sizes of the modules, and for each solver the processor time of one bake in WebAssembly beside the
 * native one, both on one thread: the least of three. Processor time, because a busy machine changes it least. Needs `make`
 * and `make web`.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";

const root = resolve(import.meta.dirname, "..");
const native = process.argv[2] ?? join(root, "build/release/bin/cutis");
const { load } = await import(join(root, "build/npm/cutis/src/index.js"));
const dist = join(root, "build/npm/cutis/dist");
for (const name of ["cutis", "threads/cutis-threads", "cutis-live"]) {
  const bytes = readFileSync(join(dist, `${name}.wasm`));
  console.log(`${name}.wasm  ${(bytes.length / 1000).toFixed(0)} kB, ${(gzipSync(bytes, { level: 9 }).length / 1000).toFixed(0)} kB in gzip`);
}

const scratch = mkdtempSync(join(tmpdir(), "cutis-speed-"));
const ROWS = [["lbs", "man", "walk", 4], ["dqs", "man", "walk", 4], ["curves", "cat", "walk", 1], ["lattice", "man", "walk", 1], ["layers", "arm", "flex", 0.3], ["springs", "hand", "fist", 0.5], ["slide", "arm", "flex", 0.3]];

console.log("\n| solver | character, clip | native, CPU s | WebAssembly, CPU s | ratio | same bits |\n|---|---|---|---|---|---|");
try {
  const cutis = await load();
  for (const [solver, name, clip, resolution] of ROWS) {
    const file = join(scratch, `${name}.glb`);
    const output = join(scratch, "n.npy");
    execFileSync(native, ["make", name, "--resolution", String(resolution), "-o", file, "-q"]);
    const bytes = readFileSync(file);
    let best = [Infinity, Infinity];
    let same = true;
    for (let round = 0; round < 3; round++) {
      const report = spawnSync("bash", ["-c", 'TIMEFORMAT=%U; time "$@" 2>/dev/null', "bash", native, "bake", file, "--solver", solver, "--clip", clip, "--end", "0.6", "--fps", "30", "--threads", "1", "-q", "-o", output]);
      const before = process.cpuUsage();
      const made = cutis.bake(bytes, { name: `${name}.glb`, solver, clip, end: 0.6, fps: 30, format: ".npy" });
      const used = process.cpuUsage(before).user / 1e6;
      same &&= Buffer.from(made.files[0].bytes).equals(readFileSync(output));
      best = [Math.min(best[0], Number(String(report.stderr).trim())), Math.min(best[1], used)];
      made.dispose();
    }
    console.log(`| \`${solver}\` | ${name} \`${clip}\` | ${best[0].toPrecision(2)} | ${best[1].toPrecision(2)} | ${(best[1] / best[0]).toFixed(2)} | ${same ? "yes" : "NO"} |`);
  }
} finally {
  rmSync(scratch, { recursive: true });
}
process.exit(0);
