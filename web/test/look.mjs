/*
 * look.mjs: how the page looks, above all as a graphics card draws it (the renderer's name is overridden: the picture is the same,
 * drawn slowly), and what it shows first. Called by page.mjs.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { readGlb, writeGlb } from "../studio/src/glb.js";

/** The page believes to draw on a graphics card. */
const graphicsCard = () => {
  const own = WebGL2RenderingContext.prototype.getParameter;
  WebGL2RenderingContext.prototype.getParameter = function (name) {
    return name === 0x9246 ? "a graphics card" : own.call(this, name);
  };
};

/** Functions of the page: pixels() of the drawing; skin(): which of them are the character's. */
const eyes = () => {
  window.pixels = () => {
    const { view } = window.app;
    view.render();
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: view.canvas.width, height: view.canvas.height });
    const g = canvas.getContext("2d", { willReadFrequently: true });
    g.drawImage(view.canvas, 0, 0);
    return g.getImageData(0, 0, canvas.width, canvas.height).data;
  };
  window.skin = () => {
    const { mesh } = window.app.view;
    const shown = window.pixels();
    mesh.visible = false;
    const empty = window.pixels();
    mesh.visible = true;
    window.app.view.render();
    return Array.from({ length: shown.length / 4 }, (_, i) => i).filter((i) => [0, 1, 2].some((k) => Math.abs(shown[4 * i + k] - empty[4 * i + k]) > 40));
  };
};

export async function lookTests({ open, test, file, scratch, shots }) {
  const arm = readGlb(readFileSync(file));
  const changed = (name, change) => {
    const json = structuredClone(arm.json);
    change(json);
    writeFileSync(join(scratch, name), writeGlb(json, [arm.binary]));
  };
  const page = await open({ width: 800, height: 600 }, "dark", graphicsCard);
  await page.evaluate(eyes);
  await page.evaluate(() => Object.assign(window.app.plan, { first: "lbs", fine: null }));
  await page.evaluate(() => window.app.openUrl("/scratch/arm.glb"));
  await page.evaluate(() => window.app.setPlaying(false));
  await page.evaluate(() => window.app.engine.ask("seek", { to: 0 }));

  await test("on a graphics card the floor has the theme's colour", async () => {
    assert.equal(await page.evaluate(() => window.app.view.software), false);
    for (const [theme, color] of [["dark", [0x22, 0x25, 0x2b]], ["light", [0xdf, 0xe3, 0xe8]]]) {
      if ((await page.evaluate(() => document.documentElement.dataset.theme)) !== theme) await page.keyboard.press("t");
      const share = await page.evaluate((given) => {
        const data = window.pixels();
        const width = window.app.view.canvas.width;
        const rows = data.subarray(-4 * width * 40); // the lowest 40 lines
        let same = 0;
        for (let i = 0; i < rows.length; i += 4) same += Number(given.every((x, k) => Math.abs(rows[i + k] - x) <= 2));
        return same / (rows.length / 4);
      }, color);
      assert.ok(share > 0.6, `${theme}: ${Math.round(100 * share)} % of the floor have its colour`);
    }
  });

  await test("on a graphics card metal reflects its surroundings", async () => {
    const mean = await page.evaluate(() => {
      const { view } = window.app;
      for (const material of view.materials) Object.assign(material, { metalness: 1, roughness: 0.2, needsUpdate: true });
      const data = window.pixels();
      const skin = window.skin();
      return skin.reduce((sum, i) => sum + Math.max(data[4 * i], data[4 * i + 1], data[4 * i + 2]), 0) / skin.length;
    });
    await page.screenshot({ path: join(shots, "card-metal.png") });
    assert.ok(mean > 70, `metal is drawn at ${mean.toFixed(0)} of 255`);
  });

  await test("on a graphics card the shadow is looked up off the skin by a texel or more, at any size of the character", async () => {
    for (const name of ["man", "arm"]) {
      await page.evaluate((zoo) => window.app.open({ zoo }), name);
      await page.evaluate(() => window.app.setPlaying(false));
      const texels = await page.evaluate(() => {
        const { shadow } = window.app.view.sun;
        return (shadow.normalBias * shadow.mapSize.x) / (shadow.camera.right - shadow.camera.left);
      });
      assert.ok(texels >= 1 && texels <= 4, `${name}: ${texels} texels`);
      await page.screenshot({ path: join(shots, `card-${name}.png`) });
    }
  });

  await test("the camera follows a character that walks away, and not one that sways", async () => {
    const found = await page.evaluate(() => {
      const { view, description } = window.app;
      const rest = view.geometry.attributes.position.array.slice();
      const normals = view.geometry.attributes.normal.array.slice();
      const stand = (way) => {
        const positions = rest.map((x, i) => x + (i % 3 === 0 ? way * description.size : 0));
        view.frame({ positions, normals, joints: view.pose, props: [], vertexCount: description.vertexCount }, []);
        return view.camera.position.x / description.size;
      };
      view.frameCamera();
      const begin = view.camera.position.x / description.size;
      const made = { swayed: stand(0.1) - begin, walked: stand(3) - begin };
      const before = view.camera.position.x;
      view.frameCamera(); // F frames where it is now
      made.framed = (view.orbit.target.x - before) / description.size;
      stand(0);
      view.frameCamera();
      return made;
    });
    assert.equal(found.swayed, 0);
    assert.ok(Math.abs(found.walked - 3) < 0.2, `the camera went ${found.walked} sizes of 3`);
    assert.ok(Math.abs(found.framed) < 1, `F frames a place ${found.framed} sizes away`);
  });

  await test("a VRM shows its face, and 'Death' is not what plays first", async () => {
    const ahead = () => page.evaluate(() => Math.sign(window.app.view.camera.position.z - window.app.view.orbit.target.z));
    assert.equal(await ahead(), 1);
    changed("back.vrm", (json) => Object.assign(json, { extensionsUsed: [...(json.extensionsUsed ?? []), "VRM"], extensions: { ...json.extensions, VRM: {} } }));
    await page.evaluate(() => window.app.openUrl("/scratch/back.vrm"));
    assert.equal(await ahead(), -1);
    changed("clips.glb", (json) => ["Death", "Idle_1"].forEach((name, i) => (json.animations[i].name = name)));
    await page.evaluate(() => window.app.openUrl("/scratch/clips.glb"));
    assert.equal(await page.evaluate(() => window.app.project.clip), "Idle_1");
  });
  await page.close();
}
