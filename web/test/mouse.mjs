/*
 * mouse.mjs: what a user does in the page with mouse and keyboard: brush, cut, blows, bones, joints, gizmo, landmarks, dropped
 * files, projects. Called by page.mjs.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Drop files on the page as a file manager does. */
export async function drop(page, ...paths) {
  const files = paths.map((path) => ({ name: basename(path), bytes: readFileSync(path).toString("base64") }));
  await page.evaluate(async (list) => {
    const transfer = new DataTransfer();
    for (const { name, bytes } of list) transfer.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name));
    window.dropped = window.app.openFiles;
    const done = new Promise((go) => (window.app.openFiles = (files) => window.dropped.call(window.app, files).then(go, go)));
    window.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true }));
    await done;
    window.app.openFiles = window.dropped;
  }, files);
}

/** Where a place of the scene is on the screen. */
const screen = (page, place) => page.evaluate((p) => {
  const { view } = window.app;
  const at = view.jointPlace(0).fromArray(p).project(view.camera);
  const box = view.canvas.getBoundingClientRect();
  return { x: box.left + ((at.x + 1) / 2) * box.width, y: box.top + ((1 - at.y) / 2) * box.height };
}, place);
const jointPlace = (page, index) => page.evaluate((j) => window.app.view.jointPlace(j).toArray(), index);

/** A place on the screen where the pointer meets the skin, near a joint. */
async function skin(page, joint) {
  const at = await screen(page, await jointPlace(page, joint));
  const hit = await page.evaluate(({ x, y }) => {
    for (let r = 0; r < 60; r += 4) {
      for (let a = 0; a < 6.3; a += 0.5) {
        const event = { clientX: x + r * Math.cos(a), clientY: y + r * Math.sin(a) };
        if (window.app.view.pick(event)) return { x: event.clientX, y: event.clientY };
      }
    }
    return null;
  }, at);
  assert.ok(hit, "no skin under the pointer");
  return hit;
}

/** Move the mouse around the gizmo until it holds a handle, and drag it by pixels away from the middle and around it. */
async function dragGizmo(page, away, around) {
  const middle = await page.evaluate(() => window.app.hand.pivot.position.toArray());
  const at = await screen(page, middle);
  for (let r = 30; r < 130; r += 6) {
    for (let a = 0.2; a < 6.3; a += 0.35) {
      const [x, y] = [at.x + r * Math.cos(a), at.y + r * Math.sin(a)];
      await page.mouse.move(x, y);
      const axis = await page.evaluate(() => window.app.view.gizmo.axis);
      if (!axis || !/^(X|Y|XY|E)$/.test(axis)) continue;
      const [dx, dy] = [away * Math.cos(a) - around * Math.sin(a), away * Math.sin(a) + around * Math.cos(a)];
      await page.mouse.down();
      await page.mouse.move(x + dx / 2, y + dy / 2);
      await page.mouse.move(x + dx, y + dy);
      await page.mouse.up();
      return axis;
    }
  }
  throw new Error("the gizmo was not found");
}
const settled = (page) => page.evaluate(() => window.app.building);

export async function mouseTests({ page, test, ask, file, scratch, native, models }) {
  await page.evaluate(() => window.app.openUrl("/scratch/arm.glb"));
  await page.evaluate(() => window.app.setSolver("lattice"));
  await page.evaluate(() => window.app.setPlaying(false));
  const calm = await ask(page, "seek", { to: 12 });

  await test("the verdict while it plays is that of a bake", async () => {
    await ask(page, "seek", { to: 100000 });
    await page.waitForSelector("button.badge.verdict:not([hidden])");
    const told = await page.evaluate(() => window.app.verdict.verdict);
    const clip = await page.evaluate(() => window.app.project.clip);
    execFileSync(native, ["bake", file, "--solver", "lattice", "--clip", clip, "-q", "--report", join(scratch, "r.json"), "-o", join(scratch, "v.npy")], { stdio: "ignore" });
    const { verdict } = JSON.parse(readFileSync(join(scratch, "r.json")));
    assert.equal(told.text, verdict.text);
    assert.equal(told.level, verdict.level);
  });

  await test("the brush paints; Ctrl Z takes it back, Ctrl Y does it again", async () => {
    await page.click("#tab_touch");
    await page.selectOption("select[aria-label='what is painted']", "freeze");
    const to = page.locator("input[aria-label='Paint to']");
    await to.focus();
    await page.keyboard.press("End");
    const at = await skin(page, 1);
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    await page.mouse.move(at.x + 10, at.y, { steps: 5 });
    await page.mouse.up();
    await settled(page);
    const painted = () => page.evaluate(() => Math.max(0, ...(window.app.painter.given().freeze ?? [])));
    const much = await painted();
    assert.ok(much > 0.3, `painted ${much}`);
    await page.keyboard.press("Control+z");
    await settled(page);
    assert.equal(await painted(), 0);
    await page.keyboard.press("Control+y");
    await settled(page);
    assert.equal(await painted(), much);
    await page.keyboard.press("Control+z");
    await settled(page);
    assert.equal(await page.evaluate(() => window.app.view.coloring), "map:freeze");
    await page.keyboard.press("q");
    assert.equal(await page.evaluate(() => window.app.view.coloring), "material", "the paint colours stay when the brush is put away");
    assert.equal((await ask(page, "seek", { to: 12 })).hash, calm.hash);
  });

  await test("see through lets what is behind the skin show, and off hides it again", async () => {
    await page.click("#tab_look");
    const at = await skin(page, 1);
    const color = () => page.evaluate(({ x, y }) => {
      const { view } = window.app;
      view.render();
      const canvas = document.createElement("canvas");
      canvas.width = canvas.height = 1;
      const g = canvas.getContext("2d");
      const box = view.canvas.getBoundingClientRect();
      g.drawImage(view.canvas, ((x - box.left) * view.canvas.width) / box.width, ((y - box.top) * view.canvas.height) / box.height, 1, 1, 0, 0, 1, 1);
      return g.getImageData(0, 0, 1, 1).data.slice(0, 3).reduce((sum, value) => sum + value, 0);
    }, at);
    const solid = await color();
    await page.click("text=See through");
    const through = await color();
    assert.ok(through < 0.8 * solid, `the skin is ${solid} before a dark background, ${through} seen through`);
    await page.click("text=See through");
    assert.equal(await color(), solid);
  });

  await test("a blow disturbs the flesh, and the clip's start forgets it", async () => {
    await page.keyboard.press("b");
    const at = await skin(page, 1);
    await page.mouse.click(at.x, at.y);
    await page.waitForFunction(() => window.app.last.disturbed);
    await page.keyboard.press("q");
    await page.evaluate(() => window.app.setPlaying(false));
    assert.equal((await ask(page, "seek", { to: 12 })).hash, calm.hash);
  });

  await test("the character is cut open", async () => {
    await page.click("#tab_look");
    await page.click("summary:has-text('Cut')");
    await page.click("text=Cut the character open");
    const planes = () => page.evaluate(() => window.app.view.mesh.material[0].clippingPlanes.map((plane) => plane.constant));
    const [middle] = await planes();
    await page.locator("input[aria-label='place of the cut']").focus();
    await page.keyboard.press("Home");
    assert.ok((await planes())[0] < middle);
    await page.click("text=Cut the character open");
    assert.deepEqual(await planes(), []);
  });

  await test("colours by stretch and volume change have a scale", async () => {
    for (const name of ["stretch", "volume change"]) {
      await page.selectOption("select[aria-label='colour']", name);
      await page.waitForFunction((text) => document.querySelector(".scale:not([hidden])")?.textContent.includes(text), name);
    }
    await page.selectOption("select[aria-label='colour']", "material");
  });

  await test("a bone is clicked, and a slider of its own changes the flesh", async () => {
    await page.keyboard.press("k");
    const at = await screen(page, await jointPlace(page, 1));
    await page.mouse.click(at.x, at.y);
    const name = await page.evaluate(() => window.app.description.joints[window.app.bone]?.name);
    assert.ok(name, "no bone was chosen");
    await page.click("#tab_solver");
    const slider = page.locator("details:has(summary:has-text('One bone')) input[type=range]").first();
    await slider.focus();
    await page.keyboard.press("End");
    await settled(page);
    const settings = await page.evaluate(() => window.app.project.settings);
    assert.ok(Object.keys(settings).some((key) => key.startsWith(`bones.${name}.`)), JSON.stringify(settings));
    await page.evaluate(() => window.app.build({ restart: true }));
    assert.notEqual((await ask(page, "seek", { to: 12 })).hash, calm.hash);
    await page.keyboard.press("k");
  });

  await test("a ball is placed by the gizmo; the saved project bakes to the same bytes; dropped, it comes back", async () => {
    await page.click("#tab_touch");
    await page.click("text=+ ball");
    await page.waitForFunction(() => window.app.project.props.length === 1 && !window.app.building && window.app.view.gizmo.object);
    const before = await page.evaluate(() => window.app.project.props[0].position);
    await dragGizmo(page, 40, 0);
    await settled(page);
    const project = await page.evaluate(() => ({ props: window.app.project.props, settings: window.app.project.settings }));
    assert.notDeepEqual(project.props[0].position, before);

    // out, and into the program
    await page.click("#tab_bake");
    await page.click("#panel_bake >> text=24");
    const [saved] = await Promise.all([page.waitForEvent("download"), page.click("text=Save settings")]);
    await saved.saveAs(join(scratch, "saved.json"));
    await page.click("#panel_bake button.primary:has-text('Bake')");
    const button = page.locator("#panel_bake button.primary:has-text('Download')");
    const [made] = await Promise.all([page.waitForEvent("download"), button.click()]);
    await made.saveAs(join(scratch, "page.glb"));
    execFileSync(native, ["bake", file, "--config", join(scratch, "saved.json"), "-q", "-o", join(scratch, "program.glb")], { stdio: "ignore" });
    assert.ok(readFileSync(join(scratch, "page.glb")).equals(readFileSync(join(scratch, "program.glb"))), "the bytes differ");

    // and back
    await page.evaluate(() => window.app.openUrl("/scratch/arm.glb"));
    assert.equal(await page.evaluate(() => window.app.project.props.length), 0);
    await drop(page, join(scratch, "saved.json"));
    const back = await page.evaluate(() => ({ props: window.app.project.props, settings: window.app.project.settings, solver: window.app.project.solver, fps: window.app.bakePanel.options.fps }));
    assert.equal(back.solver, "lattice");
    assert.equal(back.fps, 24);
    assert.deepEqual(back.settings, project.settings);
    project.props[0].position.forEach((x, i) => assert.ok(Math.abs(x - back.props[0].position[i]) < 1e-4));
    await page.evaluate(() => window.app.openUrl("/scratch/arm.glb"));
    await page.evaluate(() => window.app.setSolver("lattice"));
  });

  await test("a joint is turned with the rings", async () => {
    await page.evaluate(() => window.app.setPlaying(false));
    await ask(page, "seek", { to: 0 });
    await page.keyboard.press("j");
    const at = await screen(page, await jointPlace(page, 1));
    await page.mouse.click(at.x, at.y);
    await page.waitForFunction(() => window.app.view.gizmo.object && window.app.view.gizmo.mode === "rotate");
    await dragGizmo(page, 0, 60);
    await page.waitForFunction(() => window.app.last.disturbed);
    const turned = await page.evaluate(() => Math.abs(window.app.hand.pivot.quaternion.w));
    assert.ok(turned < 0.999, `turned by ${turned}`);
    await page.keyboard.press("q");
    await page.evaluate(() => window.app.setPlaying(false));
  });

  await test("a bare mesh is rigged, a landmark dragged, a motion dropped", async () => {
    execFileSync(native, ["make", "man", "--resolution", "0.3", "-o", join(scratch, "man.obj"), "-q"]);
    const detail = await page.evaluate(() => window.app.project.detail);
    await page.evaluate(() => (window.app.project.detail = 300)); // flesh is built three times here, and not what is looked at
    await drop(page, join(scratch, "man.obj"));
    assert.ok(await page.isVisible("#panel_rig >> text=no skeleton yet"));
    await page.click("button:has-text('Rig it')");
    await page.waitForFunction(() => window.app.hand.tool === "joint");
    await settled(page);
    const joint = await page.evaluate(() => window.app.description.joints.findIndex(({ name }) => /hand/i.test(name)));
    const before = await jointPlace(page, joint);
    const at = await screen(page, before);
    await page.mouse.click(at.x, at.y);
    await page.waitForFunction(() => window.app.view.gizmo.object);
    await dragGizmo(page, 12, 0);
    const marks = await page.evaluate(() => window.app.rigPanel.landmarks);
    const [name] = Object.keys(marks);
    assert.ok(name, "no landmark was set");
    await page.evaluate(() => window.app.hand.use("orbit"));
    await page.click("button:has-text('Rig again')");
    await page.waitForFunction(() => window.app.hand.tool === "joint" || window.app.toasts.textContent);
    assert.equal(await page.textContent(".toasts"), "");
    const after = await page.evaluate((own) => window.app.view.jointPlace(window.app.description.joints.findIndex((one) => one.name === own)).toArray(), name);
    const off = (p) => Math.hypot(...p.map((x, i) => x - marks[name][i]));
    assert.ok(off(after) < 0.9 * off(before), `${name} is ${off(after)} from where it was dragged, ${off(before)} before`);

    const motion = join(models, "cmu-mocap/02_01.bvh");
    if (existsSync(motion)) {
      await page.evaluate(() => {
        const { engine } = window.app;
        window.builds = 0;
        engine.ask = function (kind, ...rest) {
          window.builds += Number(kind === "build");
          return Object.getPrototypeOf(this).ask.call(this, kind, ...rest);
        };
      });
      await drop(page, motion);
      assert.equal(await page.evaluate(() => window.builds), 1, "builds of a dropped motion");
      await page.evaluate(() => delete window.app.engine.ask);
      assert.ok(await page.evaluate(() => window.app.description.clips.length > 0 && window.app.playing));
      await page.evaluate(() => window.app.setPlaying(false));
    }
    await page.evaluate((own) => (window.app.project.detail = own), detail);
  });
}
