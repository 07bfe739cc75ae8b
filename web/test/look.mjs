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

  await test("the normals of the file are kept: flat faces are drawn flat, before and with the flesh", async () => {
    // the arm with every face on vertices of its own
    const json = structuredClone(arm.json);
    const [{ primitives: [primitive] }] = json.meshes;
    const read = (index, size, Type) => {
      const accessor = json.accessors[index];
      const view = json.bufferViews[accessor.bufferView];
      const from = arm.binary.byteOffset + (view.byteOffset ?? 0) + (accessor.byteOffset ?? 0);
      return new Type(arm.binary.buffer.slice(from, from + accessor.count * size * Type.BYTES_PER_ELEMENT));
    };
    const order = read(primitive.indices, 1, json.accessors[primitive.indices].componentType === 5125 ? Uint32Array : Uint16Array);
    const chunks = [];
    let at = 0;
    json.bufferViews = json.bufferViews.map((view) => {
      const bytes = arm.binary.slice(view.byteOffset ?? 0, (view.byteOffset ?? 0) + view.byteLength);
      const padded = new Uint8Array((bytes.length + 3) & ~3);
      padded.set(bytes);
      chunks.push(padded);
      at += padded.length;
      return { ...view, byteOffset: at - padded.length };
    });
    const add = (values, type, more = {}) => {
      const bytes = new Uint8Array(values.buffer);
      json.bufferViews.push({ buffer: 0, byteOffset: at, byteLength: bytes.length });
      const size = { VEC3: 3, VEC4: 4 }[type];
      const componentType = values instanceof Float32Array ? 5126 : 5123;
      json.accessors.push({ bufferView: json.bufferViews.length - 1, componentType, count: values.length / size, type, ...more });
      chunks.push(bytes);
      at += bytes.length;
      return json.accessors.length - 1;
    };
    const { POSITION, JOINTS_0, WEIGHTS_0 } = primitive.attributes;
    const take = (values, size) => values.constructor.from({ length: size * order.length },
      (_, i) => values[size * order[Math.floor(i / size)] + (i % size)]);
    const p = take(read(POSITION, 3, Float32Array), 3);
    const normals = new Float32Array(p.length);
    for (let t = 0; t < p.length; t += 9) {
      const [u, v] = [3, 6].map((k) => [0, 1, 2].map((c) => p[t + k + c] - p[t + c]));
      const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
      for (let k = 0; k < 9; k++) normals[t + k] = n[k % 3] / Math.hypot(...n);
    }
    const joints = json.accessors[JOINTS_0].componentType === 5121 ? Uint16Array.from(read(JOINTS_0, 4, Uint8Array)) : read(JOINTS_0, 4, Uint16Array);
    primitive.attributes = { POSITION: add(p, "VEC3", { min: json.accessors[POSITION].min, max: json.accessors[POSITION].max }),
      NORMAL: add(normals, "VEC3"), JOINTS_0: add(take(joints, 4), "VEC4"), WEIGHTS_0: add(take(read(WEIGHTS_0, 4, Float32Array), 4), "VEC4") };
    delete primitive.indices;
    json.buffers = [{ byteLength: at }];
    writeFileSync(join(scratch, "flat.glb"), writeGlb(json, chunks));
    const seen = await page.evaluate(async () => {
      const { app } = window;
      const found = [];
      const { frame } = app.view;
      const flatness = () => {
        const { position: { array: p }, normal: { array: n } } = app.view.geometry.attributes;
        const { triangles } = app.description;
        let sum = 0;
        for (let t = 0; t < triangles.length; t += 3) {
          const [a, b, c] = triangles.subarray(t, t + 3);
          const [u, v] = [b, c].map((k) => [0, 1, 2].map((i) => p[3 * k + i] - p[3 * a + i]));
          const face = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
          sum += (face[0] * n[3 * a] + face[1] * n[3 * a + 1] + face[2] * n[3 * a + 2]) / Math.hypot(...face);
        }
        return sum / (triangles.length / 3);
      };
      app.view.frame = function (message, outputs) {
        frame.call(this, message, outputs);
        if (app.preview) found[0] ??= flatness();
      };
      app.plan.first = "lattice";
      await app.openUrl("/scratch/flat.glb");
      await app.setPlaying(false);
      await app.engine.ask("seek", { to: 60 });
      delete app.view.frame;
      app.plan.first = "lbs";
      return [...found, flatness()];
    });
    assert.ok(seen.length === 2 && seen.every((cosine) => cosine > 0.99), `mean cosines between faces and normals: ${seen}`);
    await page.screenshot({ path: join(shots, "card-flat.png") });
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
