/*
 * example.mjs PROJECT NATIVE: the three.js example of the package's README as it is printed there, from a project that has the
 * package installed: as a plain module script with an import map, and built by Vite; and the package in a worker of the
 * page. NATIVE: the cutis program, which makes the character.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { launch } from "./browser.mjs";
import { serve } from "./serve.mjs";

const [project, native] = process.argv.slice(2);
const shots = resolve(import.meta.dirname, "../../build/web");
mkdirSync(shots, { recursive: true });
mkdirSync(join(project, "public"), { recursive: true });
const readme = readFileSync(join(project, "node_modules/cutis/README.md"), "utf8");
const code = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map((found) => found[1]).find((text) => text.includes("cutis/three"));
const hero = join(project, "public/hero.glb");
execFileSync(native, ["make", "man", "--resolution", "0.5", "-o", hero, "-q"]);

// plain: an import map says where the packages are
const modules = "./node_modules";
const map = { imports: { cutis: `${modules}/cutis/src/index.js`, "cutis/three": `${modules}/cutis/src/three.js`, three: `${modules}/three/build/three.module.js`, "three/addons/": `${modules}/three/examples/jsm/` } };
writeFileSync(join(project, "plain.html"), `<!doctype html><title>plain</title><body><script type="importmap">${JSON.stringify(map)}</script><script type="module">\n${code}</script>`);
writeFileSync(join(project, "hero.glb"), readFileSync(hero));

// by Vite: packages are found by their names
writeFileSync(join(project, "main.js"), code);
writeFileSync(join(project, "index.html"), '<!doctype html><title>vite</title><body><script type="module" src="./main.js"></script>');
writeFileSync(join(project, "vite.config.mjs"), 'export default { base: "./", build: { target: "es2022", chunkSizeWarningLimit: 2000 }, worker: { format: "es" }, resolve: { preserveSymlinks: true } };');
execFileSync("node", [resolve(import.meta.dirname, "../../build/npm/node_modules/vite/bin/vite.js"), "build", "--logLevel", "error"], { cwd: project, stdio: ["ignore", "inherit", "inherit"] });

// a worker of one's own
writeFileSync(join(project, "worker.js"), `import { Character, Model, State, load } from "./node_modules/cutis/src/index.js";
const cutis = await load({ threads: 2 });
const state = new State(new Model(Character.make(cutis, "arm", 0.2), { solver: "lattice" }));
for (let i = 0; i < 5; i++) state.step(1 / 60, { clip: "flex" });
postMessage({ threads: cutis.threads, hash: state.hash });`);
writeFileSync(join(project, "worker.html"), '<!doctype html><title>worker</title><script>new Worker("./worker.js", { type: "module" }).onmessage = ({ data }) => (window.made = data);</script>');

const server = await serve({ "/": project });
const browser = await launch();
try {
  for (const path of ["plain.html", "dist/index.html"]) {
    const page = await browser.newPage({ viewport: { width: 480, height: 360 } });
    const problems = [];
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => message.type() === "error" && !/favicon|404/.test(message.text()) && problems.push(message.text()));

    // three.js tells its developer tools of every scene and renderer that is made
    await page.addInitScript(() => {
      window.__THREE_DEVTOOLS__ = new EventTarget();
      window.__THREE_DEVTOOLS__.addEventListener("observe", ({ detail }) => {
        if (detail.isScene) window.scene = detail;
        if (detail.domElement) window.renderer = detail;
      });
    });
    await page.goto(`${server.url}/${path}`);
    await page.waitForFunction(() => window.renderer?.info?.render.frame > 20, null, { timeout: 60000 });
    const look = () => page.evaluate(() => {
      const found = { flesh: 0, hidden: 0, shown: 0, sum: 0 };
      window.scene.traverse((node) => {
        if (node.isSkinnedMesh) found[node.visible ? "shown" : "hidden"]++;
        if (/_flesh$/.test(node.name) && node.visible) {
          found.flesh++;
          found.sum += node.geometry.attributes.position.array.reduce((sum, x) => sum + Math.abs(x), 0);
        }
      });
      return { ...found, triangles: window.renderer.info.render.triangles, frame: window.renderer.info.render.frame };
    });
    const before = await look();
    await page.waitForFunction((frame) => window.renderer.info.render.frame > frame + 10, before.frame);
    const after = await look();
    assert.deepEqual(problems, [], path);
    assert.ok(before.flesh > 0 && before.flesh === before.hidden && before.shown === 0, `${path}: ${JSON.stringify(before)}`);
    assert.ok(Number.isFinite(after.sum) && after.sum !== before.sum, `${path}: the flesh does not move`);
    assert.ok(after.triangles > 100, `${path}: nothing is drawn`);
    await page.screenshot({ path: join(shots, `example-${path.startsWith("dist") ? "vite" : "plain"}.png`) });
    await page.close();
  }
  const page = await browser.newPage();
  await page.goto(`${server.url}/worker.html`);
  await page.waitForFunction(() => window.made, null, { timeout: 60000 });
  const made = await page.evaluate(() => window.made);
  assert.equal(made.threads, 2);
  const { Character, Model, State, load } = await import(join(project, "node_modules/cutis/src/index.js"));
  const cutis = await load();
  const state = new State(new Model(Character.make(cutis, "arm", 0.2), { solver: "lattice" }));
  for (let i = 0; i < 5; i++) state.step(1 / 60, { clip: "flex" });
  assert.equal(made.hash, state.hash);
} finally {
  await browser.close();
  server.close();
}
console.log("the README's example plays as a plain module and built by Vite; a worker has Node's hash");
process.exit(0);
