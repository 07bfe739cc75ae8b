/*
 * example.mjs PROJECT NATIVE: the three.js example of the package's README as it is printed there, from a project that has the
 * package installed: as a plain module script with an import map, and built by Vite, webpack and esbuild without any
 * configuration; useFlesh in react-three-fiber; and the package in a worker of the page. NATIVE: the cutis program, which makes the character.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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

// by bundlers, in their default configuration; a bake in a worker beside it
const npm = resolve(import.meta.dirname, "../../build/npm");
const { build: vite } = await import(join(npm, "node_modules/vite/dist/node/index.js"));
const { default: webpack } = await import(join(npm, "node_modules/webpack/lib/index.js"));
const { build: esbuild } = await import(join(npm, "node_modules/esbuild/lib/main.js"));
const page = (script) => `<!doctype html><title>built</title><body><script type="module" src="${script}"></script>`;
writeFileSync(join(project, "main.js"), `${code}\nimport { bake } from "cutis";\nwindow.bake = bake;`);
writeFileSync(join(project, "index.html"), page("./main.js"));
await vite({ root: project, configFile: false, base: "/dist-vite/", build: { outDir: "dist-vite" }, logLevel: "error" });
await new Promise((done, failed) => webpack({ mode: "development", context: project, entry: "./main.js", output: { path: join(project, "dist-webpack") } }, (error, stats) => (error || stats.hasErrors() ? failed(error ?? new Error(stats.toString("errors-only"))) : done())));
writeFileSync(join(project, "dist-webpack/index.html"), page("./main.js"));

// esbuild copies neither .wasm nor workers: the build in one file, on the page's own thread
const single = `import { load } from "cutis/single";\n${code.replace("{ worker: true }", "{ cutis: await load() }")}`;
assert.match(single, /cutis: await load/);
writeFileSync(join(project, "single.js"), single);
await esbuild({ absWorkingDir: project, entryPoints: ["single.js"], bundle: true, format: "esm", outdir: "dist-esbuild", logLevel: "error" });
writeFileSync(join(project, "dist-esbuild/index.html"), page("./single.js"));
for (const folder of ["dist-webpack", "dist-esbuild"]) copyFileSync(hero, join(project, folder, "hero.glb"));

// react-three-fiber
writeFileSync(join(project, "react.html"), page("./hero.js"));
writeFileSync(join(project, "hero.js"), `import { Canvas, useFrame, useLoader } from "@react-three/fiber";
import { createElement as h, StrictMode, Suspense, useMemo } from "react";
import { createRoot as page } from "react-dom/client";
import { AnimationMixer } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { useFlesh } from "cutis/react";
function Hero() {
  const gltf = useLoader(GLTFLoader, "../hero.glb");
  const mixer = useMemo(() => {
    const made = new AnimationMixer(gltf.scene);
    made.clipAction(gltf.animations[0]).play();
    return made;
  }, [gltf]);
  useFrame((_, delta) => mixer.update(delta));
  window.flesh = useFlesh(gltf.scene, { settings: { fat_stiffness: 2 } });
  return h("primitive", { object: gltf.scene });
}
const canvas = h(Canvas, { camera: { position: [0, 1, 4], fov: 40 } }, h("hemisphereLight"), h(Suspense, null, h(Hero)));
page(document.body.appendChild(Object.assign(document.createElement("div"), { style: "height: 100vh" }))).render(h(StrictMode, null, canvas));
`);
await vite({ root: project, configFile: false, base: "/dist-react/", logLevel: "error",
  build: { outDir: "dist-react", rollupOptions: { input: join(project, "react.html") } } });

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
  for (const path of ["plain.html", "dist-vite/index.html", "dist-webpack/index.html", "dist-esbuild/index.html", "dist-react/react.html"]) {
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

    // plain skinning is drawn until the flesh is
    await page.waitForFunction(() => {
      let flesh = 0;
      window.scene.traverse((node) => (flesh += Number(/_flesh$/.test(node.name))));
      return flesh > 0;
    }, null, { timeout: 60000 });
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
    if (/react/.test(path)) assert.equal(await page.evaluate(() => window.flesh?.meshes.length), before.flesh, path);
    assert.ok(Number.isFinite(after.sum) && after.sum !== before.sum, `${path}: the flesh does not move`);
    assert.ok(after.triangles > 100, `${path}: nothing is drawn`);
    await page.screenshot({ path: join(shots, `example-${path.split(/[-/.]/)[path.startsWith("dist") ? 1 : 0]}.png`) });
    if (/vite|webpack/.test(path)) {
      const frames = await page.evaluate(async () => (await window.bake(await (await fetch("/hero.glb")).arrayBuffer(), { name: "hero.glb", solver: "lbs", fps: 6, end: 0.5 })).frameCount);
      assert.equal(frames, 4, `${path}: the bake in a worker`);
    }
    await page.close();
  }
  const page = await browser.newPage();
  await page.goto(`${server.url}/worker.html`);
  await page.waitForFunction(() => window.made, null, { timeout: 60000 });
  const made = await page.evaluate(() => window.made);
  assert.equal(made.threads, 2);
  const { Character, Model, State, load } = await import(join(project, "node_modules/cutis/src/node.js"));
  const cutis = await load();
  const state = new State(new Model(Character.make(cutis, "arm", 0.2), { solver: "lattice" }));
  for (let i = 0; i < 5; i++) state.step(1 / 60, { clip: "flex" });
  assert.equal(made.hash, state.hash);

  // the worker of Flesh: a step that is under way is not waited for, and dispose gives the skinned meshes back
  const flesh = await browser.newPage();
  flesh.on("pageerror", (error) => assert.fail(error.message));
  await flesh.goto(`${server.url}/plain.html`);
  const found = await flesh.evaluate(async () => {
    const { Flesh } = await import("cutis/three");
    const { Scene } = await import("three");
    const { GLTFLoader } = await import("three/addons/loaders/GLTFLoader.js");
    const { scene: hero } = await new GLTFLoader().loadAsync("hero.glb");
    new Scene().add(hero);
    const own = new Flesh(hero, { worker: true });
    const visible = own.skinned.map((one) => one.visible);
    const tick = setInterval(() => own.update(1 / 60), 5);
    await own.ready;
    clearInterval(tick);
    const begun = performance.now();
    for (let i = 0; i < 50; i++) own.update(1 / 60);
    const milliseconds = (performance.now() - begun) / 50;
    const after = own.skinned.map((one) => one.visible);
    const positions = own.mesh.geometry.attributes.position.array;
    const finite = positions.every(Number.isFinite) && positions.some((x) => x !== 0);
    own.dispose();
    const failed = await new Flesh(hero, { worker: true, solver: "glue" }).ready.catch((error) => `${error.name}: ${error.message}`);
    return { visible, after, back: own.skinned.map((one) => one.visible), finite, failed, milliseconds };
  });
  assert.ok(found.visible.every(Boolean) && !found.after.some(Boolean) && found.back.every(Boolean), JSON.stringify(found));
  assert.ok(found.finite);
  assert.match(found.failed, /CutisError: .*glue/);
} finally {
  await browser.close();
  server.close();
}
console.log("the README's example plays as a plain module, in react-three-fiber and built by Vite, webpack and esbuild");
process.exit(0);
