/*
 * web_frames.mjs [SOLVER] [CHARACTER] [SECONDS]: drawn frames of the page in Chromium with software rendering, for a character
 * that plays (man under lattice), and the processor time that they take: of the page's main thread, of the worker that
 * simulates, of the process that draws. On a machine that others use too, frames a second are the least that it does;
 * processor time hardly changes. Needs `make studio`.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";

import { launch } from "../web/test/browser.mjs";
import { serve } from "../web/test/serve.mjs";

const [solver = "lattice", character = "man", seconds = "8"] = process.argv.slice(2);
const root = resolve(import.meta.dirname, "..");
const TICK = 10; // ms of the kernel's clock

/** Processor time in ms of every thread below a process, by process and thread name. */
function times(parent) {
  const found = {};
  const visit = (pid) => {
    let kind = "";
    try {
      kind = /--type=([\w-]+)/.exec(readFileSync(`/proc/${pid}/cmdline`, "utf8"))?.[1] ?? "browser";
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
        const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        found[`${pid} ${thread}`] = { kind, name, ms: TICK * (Number(fields[11]) + Number(fields[12])) };
        for (const child of readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean)) visit(child);
      }
    } catch {
      // it ended meanwhile
    }
  };
  visit(parent);
  return found;
}

const server = await serve({ "/": join(root, "build/studio") });
const browser = await launch();
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  await page.goto(`${server.url}/index.html?zoo=${character}`);
  await page.evaluate(() => window.app.ready);
  await page.evaluate((name) => window.app.setSolver(name), solver);
  await page.evaluate(() => window.app.setPlaying(true));
  await page.waitForTimeout(2000);
  const self = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid)).find((pid) => {
    try {
      return /chrom/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[0]) && readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ")[1] === String(process.pid);
    } catch {
      return false;
    }
  });
  const count = () => page.evaluate(() => ({ drawn: window.app.view.rendered, at: performance.now(), played: window.app.played }));
  const before = { ...(await count()), times: times(self) };
  await page.waitForTimeout(1000 * Number(seconds));
  const after = { ...(await count()), times: times(self) };
  const drawn = after.drawn - before.drawn;
  const wall = (after.at - before.at) / 1000;

  // processor time of a drawn frame by what it does
  const spent = {};
  for (const [key, { kind, name, ms }] of Object.entries(after.times)) {
    const own = ms - (before.times[key]?.ms ?? 0);
    const what = kind === "gpu-process" ? "drawing in software" : kind === "renderer" ? (/Dedicated|worker/i.test(name) ? "simulation" : "page") : "browser";
    spent[what] = (spent[what] ?? 0) + own;
  }
  const total = Object.values(spent).reduce((sum, x) => sum + x, 0) / drawn;
  console.log(`${character} under ${solver}, 1280 x 720: ${drawn} frames drawn in ${wall.toFixed(1)} s: ${(drawn / wall).toFixed(1)} a second; simulated ${((after.played - before.played) / wall).toFixed(2)} s a second`);
  for (const [what, ms] of Object.entries(spent)) console.log(`  ${what}: ${(ms / drawn).toFixed(1)} ms of a processor a frame`);
  console.log(`  all: ${total.toFixed(1)} ms a frame; two cores of one's own: ${(2000 / total).toFixed(0)} frames a second at most`);
} finally {
  await browser.close();
  server.close();
}
process.exit(0);
