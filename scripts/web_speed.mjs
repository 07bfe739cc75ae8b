/*
 * web_speed.mjs [NATIVE]: sizes of the modules, and for each solver WebAssembly beside the native program, both on one thread:
 * the processor time of one bake, and of its frames alone (less that of a bake of the first frame); of each the least of five
 * rounds, because a busy machine only adds to it. ROWS=regex measures some rows. Needs `make` and `make web`.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";

const root = resolve(import.meta.dirname, "..");
const native = process.argv[2] ?? join(root, "build/release/bin/cutis");
const { load } = await import(join(root, "build/npm/cutis/src/node.js"));
const dist = join(root, "build/npm/cutis/dist");
for (const name of ["cutis", "threads/cutis-threads", "cutis-live"]) {
  const bytes = readFileSync(join(dist, `${name}.wasm`));
  console.log(`${name}.wasm  ${(bytes.length / 1000).toFixed(0)} kB, ${(gzipSync(bytes, { level: 9 }).length / 1000).toFixed(0)} kB in gzip`);
}

const scratch = mkdtempSync(join(tmpdir(), "cutis-speed-"));
// a heavy person, where contact and body are a large part of the work; left out without the folder of shared models
const HEAVY = join(root, "../shared/models/makehuman-cmu-heavy/mh_heavy.glb");
const ROWS = [["lbs", "man", "walk", 4], ["dqs", "man", "walk", 4], ["curves", "cat", "walk", 1], ["lattice", "man", "walk", 1], ["layers", "arm", "flex", 0.3], ["springs", "hand", "fist", 0.5], ["slide", "arm", "flex", 0.3],
  ["layers", HEAVY, "walk", 1, 0.1]];

const ROUNDS = 5;
const END = 0.6; // seconds of the clip, where a row has none of its own
const chosen = process.env.ROWS ? new RegExp(process.env.ROWS) : /./; // such as ROWS=layers

console.log("\n| solver | character, clip | bake, CPU s: native | WebAssembly | ratio | frames, CPU s: native | WebAssembly | ratio | same bits |\n|---|---|---|---|---|---|---|---|---|");
try {
  const cutis = await load();
  for (const [solver, given, clip, resolution, end = END] of ROWS) {
    if (!chosen.test(`${solver} ${given}`) || (given === HEAVY && !existsSync(HEAVY))) continue;
    const name = basename(given, ".glb");
    const file = given === HEAVY ? HEAVY : join(scratch, `${name}.glb`);
    const output = join(scratch, "n.npy");
    if (given !== HEAVY) execFileSync(native, ["make", name, "--resolution", String(resolution), "-o", file, "-q"]);
    const bytes = readFileSync(file);
    const best = { whole: [Infinity, Infinity], first: [Infinity, Infinity] };
    let same = true;
    for (let round = 0; round < ROUNDS; round++) {
      for (const [what, last] of [["first", 0], ["whole", end]]) {
        const words = ["bake", file, "--solver", solver, "--clip", clip, "--end", String(last), "--fps", "30", "--threads", "1", "-q", "-o", output];
        const told = spawnSync("bash", ["-c", 'TIMEFORMAT=%U; time "$@" 2>/dev/null', "bash", native, ...words]);
        const before = process.cpuUsage();
        const made = cutis.bake(bytes, { name: `${name}.glb`, solver, clip, end: last, fps: 30, format: ".npy" });
        const used = process.cpuUsage(before).user / 1e6;
        same &&= Buffer.from(made.files[0].bytes).equals(readFileSync(output));
        [Number(String(told.stderr).trim()), used].forEach((seconds, i) => (best[what][i] = Math.min(best[what][i], seconds)));
        made.dispose();
      }
    }
    const cells = ([there, here]) => `${there.toPrecision(2)} | ${here.toPrecision(2)} | ${(here / there).toFixed(2)}`;
    const frames = [0, 1].map((i) => best.whole[i] - best.first[i]);
    console.log(`| \`${solver}\` | ${name} \`${clip}\` | ${cells(best.whole)} | ${cells(frames)} | ${same ? "yes" : "NO"} |`);
  }
} finally {
  rmSync(scratch, { recursive: true });
}
process.exit(0);
