/*
 * fields.mjs PACKAGE: the numbers that the page colours by, against what they are by definition. PACKAGE: folder of the
 * installed package.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { Fields } from "../studio/src/fields.js";

const { Character, Model, State, load } = await import(pathToFileURL(join(process.argv[2], "src/node.js")));
const cutis = await load();
const arm = Character.make(cutis, "arm", 0.3);
const rest = arm.positions.slice();
const fields = new Fields({ positions: rest, triangles: arm.triangles.slice(), points: arm.vertexPoints.slice(), size: arm.size });
const near = (values, expected) => assert.ok(values.every((value) => Math.abs(value - expected) < 1e-4 * expected), `not ${expected} everywhere`);

// at rest and evenly scaled
near(fields.stretch(rest), 1);
near(fields.volume(rest), 1);
near(fields.stretch(rest.map((x) => 1.1 * x)), 1.1);
near(fields.volume(rest.map((x) => 1.1 * x)), 1.331);

// squeezed along one axis: volumes fall alike, edges not
const flat = rest.map((x, i) => (i % 3 === 2 ? 0.5 * x : x));
near(fields.volume(flat), 0.5);
const edges = fields.stretch(flat);
assert.ok(Math.min(...edges) < 0.7 && Math.max(...edges) <= 1.0001);

// most of the skin has flesh under it, and an elbow bent by plain skinning loses some
assert.ok(fields.opposites.filter(Boolean).length > 0.95 * fields.pointCount);
const state = new State(new Model(arm, { solver: "lbs" }));
state.step(0, { joints: arm.pose("flex", arm.clips.find((clip) => clip.name === "flex").end / 2) });
const bent = fields.volume(state.positions);
assert.ok(Math.min(...bent) < 0.85 && bent.filter((value) => Math.abs(value - 1) < 0.05).length > 0.4 * bent.length, `${Math.min(...bent)}`);
console.log("stretch and volume change agree with their definitions");
process.exit(0);
