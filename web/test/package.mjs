/*
 * package.mjs PACKAGE NATIVE: the npm package in Node, against the native program: the same bytes, errors as exceptions,
 * memory given back. PACKAGE: folder of the installed package; NATIVE: the cutis program.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, native] = process.argv.slice(2);
const { load, bake, Character, CutisError, Model, Rig, State } = await import(pathToFileURL(join(folder, "src/node.js")));
const scratch = mkdtempSync(join(tmpdir(), "cutis-web-"));
const run = (...words) => JSON.parse(execFileSync(native, [...words, "--json"], { maxBuffer: 1 << 26, stdio: ["ignore", "pipe", "ignore"] }));
const write = (...words) => execFileSync(native, [...words, "-q"], { stdio: ["ignore", "ignore", "ignore"] });
let count = 0;
async function test(name, body) {
  await body();
  count++;
}

const one = await load();
const two = await load({ threads: 2 });
const cutisFile = join(scratch, "arm.glb");
write("make", "arm", "--resolution", "0.12", "-o", cutisFile);
const armBytes = readFileSync(cutisFile);

try {
  await test("tables are those of the program", () => {
    const names = run("solvers").solvers;
    assert.deepEqual(one.solvers.map((solver) => solver.name), names.map((solver) => solver.name));
    assert.equal(one.solver("lattice").parameters.length, names.find((solver) => solver.name === "lattice").parameters.length);
    assert.ok(one.zoo.some((entry) => entry.name === "man"));
    assert.ok(one.templates.length > 0);
  });

  for (const cutis of [one, two]) {
    await test(`a bake has the bytes of the native one, ${cutis.threads} threads`, () => {
      assert.equal(cutis.threads, cutis === one ? 1 : 2);
      for (const solver of ["lattice", "layers"]) {
        write("bake", cutisFile, "--solver", solver, "--clip", "flex", "--fps", "6", "-o", join(scratch, "n.glb"));
        const made = cutis.bake(armBytes, { name: "arm.glb", solver, clip: "flex", fps: 6, format: ".glb" });
        assert.ok(Buffer.from(made.files[0].bytes).equals(readFileSync(join(scratch, "n.glb"))), `${solver}: the bytes differ`);
        assert.match(made.verdict.level, /good|look|bad/);
        assert.equal(made.report.solver ?? made.solver, solver);
        made.dispose();
      }
    });
  }

  await test("acceleration and blows of a bake are those of the native one", () => {
    write("bake", cutisFile, "--solver", "lattice", "--clip", "flex", "--fps", "6", "--set", "acceleration=0,-9.81,0", "--set", "blow=0.5,0,0,0,1,0,1,0", "-o", join(scratch, "b.npy"));
    const made = one.bake(armBytes, { name: "arm.glb", solver: "lattice", clip: "flex", fps: 6, format: ".npy", acceleration: [0, -9.81, 0], blows: [{ time: 0.5, place: [0, 0, 0], radius: 1, velocity: [0, 1, 0] }] });
    assert.ok(Buffer.from(made.files[0].bytes).equals(readFileSync(join(scratch, "b.npy"))), "the bytes differ");
    made.dispose();
  });

  await test("threads change nothing; a snapshot leads back to the same hash", () => {
    const hashes = [one, two].map((cutis) => {
      const character = Character.load(cutis, armBytes, "arm.glb");
      const model = new Model(character, { solver: "lattice" });
      const state = new State(model);
      for (let i = 0; i < 6; i++) state.step(1 / 60, { clip: "flex", drags: i < 3 ? [{ vertex: 5, target: [0, 0.3, 0], strength: 0.5 }] : [] });
      const snapshot = state.copy();
      const positions = state.positions.slice();
      for (let i = 0; i < 6; i++) state.step(1 / 60, { clip: "flex" });
      const end = state.hash;
      state.restore(snapshot);
      assert.deepEqual(state.positions.slice(), positions);
      for (let i = 0; i < 6; i++) state.step(1 / 60, { clip: "flex" });
      assert.equal(state.hash, end);
      assert.ok(state.outputRole("elements").values.every(Number.isFinite));
      assert.ok(Math.abs(Math.hypot(...state.normals.subarray(0, 3)) - 1) < 1e-4);
      for (const object of [snapshot, state, model, character]) object.dispose();
      return end;
    });
    assert.equal(hashes[0], hashes[1]);
  });

  await test("poses, teleport and live joints", () => {
    const character = Character.make(one, "arm", 0.12);
    const model = new Model(character, { solver: "lbs" });
    const state = new State(model);
    const pose = character.pose("flex", 0.4);
    state.step(1 / 60, { joints: pose });
    const moved = state.positions.slice();
    state.step(0, { clip: "flex" });
    const other = new State(model);
    other.reset(pose);
    assert.deepEqual(other.positions.slice(), moved);
    other.teleport([1, 0, 0, 2, 0, 1, 0, 0, 0, 0, 1, 0]);
    for (const object of [other, state, model, character]) object.dispose();
    assert.throws(() => character.vertexCount, /disposed/);
  });

  await test("errors are exceptions with the library's sentence", () => {
    assert.throws(() => Character.load(one, new Uint8Array([1, 2, 3]), "bad.glb"), (error) => error instanceof CutisError && error.code === "format" && error.message.length > 10);
    assert.throws(() => Character.make(one, "nobody"), /nobody/);
    const character = Character.make(one, "arm", 0.12);
    assert.throws(() => new Model(character, { solver: "lattice", settings: { stifness: 1 } }), /stifness/);
    assert.throws(() => one.bake(character, { fsp: 3 }), /fsp/);
    assert.throws(() => one.bake(character, { solver: "lbs", progress: () => { throw new Error("mine"); } }), /mine/);
    assert.throws(() => character.pose("nope"), /nope/);
    character.dispose();
  });

  await test("a bake is aborted, in this thread and in a worker", async () => {
    const stop = new AbortController();
    assert.throws(() => one.bake(armBytes, { name: "arm.glb", solver: "lattice", clip: "flex", signal: stop.signal, progress: (stage, done) => void (stage === "frames" && done > 2 && stop.abort()) }), /abort/i);
    const late = new AbortController();
    await assert.rejects(bake(armBytes, { name: "arm.glb", solver: "lattice", clip: "flex", fps: 60, signal: late.signal, progress: (stage, done) => void (stage === "frames" && done > 2 && late.abort()) }), /abort/i);
    const stages = new Set();
    const made = await bake(armBytes, { name: "arm.glb", solver: "lattice", clip: "flex", fps: 6, format: ".npy", keepFrames: true, progress: (stage) => void stages.add(stage) });
    assert.ok(stages.has("frames"));
    assert.equal(made.positions.length, made.frameCount * made.vertexCount * 3);
    await assert.rejects(bake(new Uint8Array(30), { name: "x.glb" }), CutisError);
  });

  await test("a bare mesh is rigged", () => {
    const bare = Character.load(one, Character.make(one, "man", 0.5).save(".obj"), "man.obj");
    assert.equal(bare.jointCount, 0);
    const rig = new Rig(one, bare);
    assert.ok(rig.character.jointCount > 10 && rig.character.weights.values.length > 0);
    assert.ok(rig.sentences.length > 0);
    const again = Character.load(one, rig.character.save(), "rigged.glb");
    assert.equal(again.jointCount, rig.character.jointCount);
    again.dispose();
    rig.dispose();
    bare.dispose();
  });

  await test("the live module runs a character from arrays", async () => {
    const live = await load({ live: true });
    const arm = Character.load(one, armBytes, "arm.glb");
    const { weights } = arm;
    const given = { positions: arm.positions.slice(), corners: arm.corners.slice(), faceFirst: arm.faceFirst.slice(), joints: arm.joints,
      weights: { first: weights.first.slice(), joints: weights.joints.slice(), values: weights.values.slice() } };
    const poses = Array.from({ length: 10 }, (_, i) => arm.pose("flex", i / 60));
    const hashes = [one, live].map((cutis) => {
      const character = Character.from(cutis, given);
      const model = new Model(character, { solver: "lattice" });
      const state = new State(model);
      state.reset(poses[0]);
      for (const joints of poses) state.step(1 / 60, { joints });
      const { hash } = state;
      for (const object of [state, model, character]) object.dispose();
      return hash;
    });
    assert.equal(hashes[0], hashes[1]);
    assert.throws(() => Character.make(live, "arm"), /live/);
  });

  await test("memory is given back", () => {
    const round = () => {
      const character = Character.load(one, armBytes, "arm.glb");
      const model = new Model(character, { solver: "lattice" });
      const state = new State(model);
      for (let i = 0; i < 5; i++) state.step(1 / 60, { clip: "flex" });
      state.stats;
      for (const object of [state, model, character]) object.dispose();
    };
    for (let i = 0; i < 5; i++) round();
    const before = one.memoryBytes;
    for (let i = 0; i < 40; i++) round();
    assert.equal(one.memoryBytes, before);
  });

  await test("Draco", async () => {
    const packed = process.env.CUTIS_MODELS && join(process.env.CUTIS_MODELS, "formats/gltf-CesiumMan");
    if (!packed || !existsSync(packed) || !process.env.CUTIS_DRACO) return;
    const { createRequire } = await import("node:module");
    const draco = await createRequire(process.env.CUTIS_DRACO)("draco3d").createDecoderModule({});
    const { readdirSync } = await import("node:fs");
    const { unpackDraco, usesDraco } = await import(pathToFileURL(join(folder, "src/node.js")));
    for (const name of readdirSync(packed).filter((file) => /draco.*\.glb$/.test(file))) {
      const bytes = new Uint8Array(readFileSync(join(packed, name)));
      assert.ok(usesDraco(bytes));
      const own = Character.load(one, unpackDraco(bytes, draco), name);
      write("bake", join(packed, name), "--solver", "lbs", "--fps", "2", "-o", join(scratch, "d.npy"));
      const made = one.bake(own, { solver: "lbs", fps: 2, format: ".npy" });

      // another version of the decoder: the same vertices up to rounding
      const [here, there] = [made.files[0].bytes, readFileSync(join(scratch, "d.npy"))].map((file) => new Float32Array(file.buffer.slice(file.byteOffset + 128, file.byteOffset + file.byteLength)));
      assert.equal(here.length, there.length);
      assert.ok(here.every((x, i) => Math.abs(x - there[i]) < 1e-5 * own.size), `${name}: the positions differ`);
      made.dispose();
      own.dispose();
    }
  });
} finally {
  two.dispose();
  rmSync(scratch, { recursive: true });
}
console.log(`${count} tests of the npm package passed in Node ${process.versions.node}`);
process.exit(0);
