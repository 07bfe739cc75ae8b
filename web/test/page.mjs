/*
 * page.mjs NATIVE: the page `studio` and the golden hashes in Chromium. NATIVE: the cutis program, whose bakes are compared.
 * Characters of ../shared/models are tried where they are. Screenshots go to build/web.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { launch } from "./browser.mjs";
import { serve } from "./serve.mjs";

const [native] = process.argv.slice(2);
const root = resolve(import.meta.dirname, "../..");
const models = resolve(root, "../shared/models");
const shots = join(root, "build/web");
const scratch = mkdtempSync(join(tmpdir(), "cutis-page-"));
mkdirSync(shots, { recursive: true });
const server = await serve({ "/": join(root, "build/studio"), "/wasm/": join(root, "build/wasm/bin"), "/models/": models, "/scratch/": scratch, "/test/": import.meta.dirname });
const browser = await launch();
let count = 0;
const begun = Date.now();
async function test(name, body) {
  const from = Date.now();
  try {
    await body();
  } catch (error) {
    console.log(`FAILED: ${name}`);
    throw error;
  }
  count++;
  if (process.env.VERBOSE) console.log(`${((Date.now() - from) / 1000).toFixed(1)} s  ${name}`);
}
const problems = [];
async function open(size = { width: 1280, height: 720 }, colorScheme = "dark") {
  const page = await browser.newPage({ viewport: size, colorScheme });
  page.setDefaultTimeout(120000);
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(`${server.url}/index.html`);
  await page.evaluate(() => window.app.ready);
  return page;
}
const ask = (page, kind, given = {}) => page.evaluate(([k, g]) => window.app.engine.ask(k, g), [kind, given]);

try {
  await test("golden hashes in Chromium, 1 and 2 threads", async () => {
    const expected = readFileSync(join(root, "tests/golden.txt"), "utf8");
    for (const threads of [1, 2]) {
      const page = await browser.newPage();
      await page.goto(`${server.url}/test/golden.html?threads=${threads}`);
      await page.waitForFunction(() => window.finished, null, { timeout: 240000 });
      assert.equal(await page.evaluate(() => window.output.join("\n") + "\n"), expected);
      await page.close();
    }
  });

  const page = await open();
  await test("a built-in character plays, scrubs back to the same hash, and never freezes the page", async () => {
    await page.evaluate(() => window.app.open({ zoo: "arm" }));
    await page.evaluate(() => window.app.setSolver("lattice"));
    await page.evaluate(() => window.app.setPlaying(true));
    await page.waitForFunction(() => window.app.timeline.frame > 70);
    await page.evaluate(() => window.app.setPlaying(false));
    const there = await ask(page, "seek", { to: 80 });
    const back = await ask(page, "seek", { to: 65 });
    const again = await ask(page, "seek", { to: 80 });
    assert.equal(again.hash, there.hash);
    assert.notEqual(back.hash, there.hash);
  });

  await test("a bake has the bytes of the native one", async () => {
    const file = join(scratch, "arm.glb");
    execFileSync(native, ["make", "arm", "--resolution", "0.3", "-o", file, "-q"]);
    execFileSync(native, ["bake", file, "--solver", "lattice", "--clip", "flex", "--fps", "30", "-q", "-o", join(scratch, "native.glb")], { stdio: "ignore" });
    await page.evaluate(() => window.app.openUrl("/scratch/arm.glb"));
    await page.evaluate(() => window.app.setSolver("lattice"));
    await page.click("#tab_bake");
    await page.evaluate(() => window.app.bakePanel.run());
    const bytes = await page.evaluate(() => Array.from(window.app.bakePanel.last.files[0].bytes));
    assert.ok(Buffer.from(bytes).equals(readFileSync(join(scratch, "native.glb"))), "the bytes differ");
    assert.ok(await page.isVisible("#panel_bake .note.good, #panel_bake .note.look, #panel_bake .note.bad"));
    assert.ok(await page.isVisible("text=Download"));
    await page.screenshot({ path: join(shots, "bake.png") });
  });

  assert.deepEqual(problems, []);
} finally {
  await browser.close();
  server.close();
  rmSync(scratch, { recursive: true });
}
console.log(`== web: ${count} tests of the page passed in Chromium in ${((Date.now() - begun) / 1000).toFixed(0)} s; golden hashes equal in Node and Chromium on 1 and 2 threads`);
process.exit(0);
