// three_texcoords.mjs BAKED.glb CHARACTER.obj TEXCOORDS.npy CLIP FPS TOLERANCE: the texture coordinates that three.js shows of a
// bake of sliding skin, with the plug-in of web/cutis/src/three_texcoords.js, against the output texcoords_steady of the same
// bake. Tolerance in units of the texture. Run with the folder that holds node_modules/three as the current one.
import { readFileSync, writeFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [model, obj, npy, name, rate, tolerance] = process.argv.slice(2);
const require = createRequire(process.cwd() + '/');
const THREE = await import(pathToFileURL(require.resolve('three').replace('three.cjs', 'three.module.js')));
globalThis.ProgressEvent ??= class {};
globalThis.self = globalThis;
const { GLTFLoader } = await import(pathToFileURL(require.resolve('three/examples/jsm/loaders/GLTFLoader.js')));

// the plug-in beside the three.js that loads the file
const folder = mkdtempSync(join(tmpdir(), 'three-'));
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
const source = join(dirname(fileURLToPath(import.meta.url)), '../web/cutis/src/three_texcoords.js');
writeFileSync(join(folder, 'plugin.mjs'), readFileSync(source));
const { TexcoordMorphs, texcoordOf } = await import(pathToFileURL(join(folder, 'plugin.mjs')));
rmSync(folder, { recursive: true });

// texture coordinates of the corners: as they move, and at rest
const data = readFileSync(npy), start = 10 + data.readUInt16LE(8);
const [frames, corners] = /'shape': \((\d+), (\d+), 2\)/.exec(data.toString('latin1', 10, start)).slice(1).map(Number);
const wanted = (frame, corner, k) => data.readFloatLE(start + 4 * ((frame * corners + corner) * 2 + k));
const rest = [], coordinates = [];
for (const line of readFileSync(obj, 'latin1').split('\n')) {
    const words = line.trim().split(/\s+/);
    if (words[0] === 'vt') coordinates.push([Number(words[1]), 1 - Number(words[2])]);
    if (words[0] === 'f') for (const word of words.slice(1)) rest.push(coordinates[word.split('/')[1] - 1]);
}
if (rest.length !== corners) throw new Error(`${basename(obj)} has ${rest.length} corners, the bake ${corners}`);

const bytes = readFileSync(model);
const loader = new GLTFLoader().register((parser) => new TexcoordMorphs(parser));
const gltf = await new Promise((done, fail) => loader.parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), '', done, fail));
const mixer = new THREE.AnimationMixer(gltf.scene), clip = gltf.animations.find((animation) => animation.name === name);
const action = mixer.clipAction(clip);
action.setLoop(THREE.LoopOnce);
action.clampWhenFinished = true;
action.play();

// a vertex for each corner, by its coordinates at rest
const vertices = new Map(), key = (u, v) => `${Math.round(u * 1e5)},${Math.round(v * 1e5)}`, place = new THREE.Vector2();
gltf.scene.traverse((mesh) => {
    const uv = mesh.isMesh && mesh.geometry.attributes.uv;
    for (let i = 0; uv && i < uv.count; i++) vertices.set(key(uv.getX(i), uv.getY(i)), [mesh, i]);
});
const around = (u, v) => {
    for (const du of [0, 1e-5, -1e-5]) for (const dv of [0, 1e-5, -1e-5]) if (vertices.has(key(u + du, v + dv))) return vertices.get(key(u + du, v + dv));
    throw new Error(`no vertex at ${u}, ${v}`);
};
const shown = rest.map(([u, v]) => around(u, v));

const first = Math.min(...clip.tracks.map((track) => track.times[0]));
let worst = 0, moved = 0;
for (let frame = 0; frame < frames; frame++) {
    mixer.setTime(Math.min(first + frame / Number(rate), clip.duration));
    shown.forEach(([mesh, vertex], corner) => {
        texcoordOf(mesh, vertex, place);
        const off = Math.hypot(place.x - wanted(frame, corner, 0), place.y - wanted(frame, corner, 1));
        worst = Math.max(worst, Number.isFinite(off) ? off : Infinity);
        moved = Math.max(moved, Math.hypot(rest[corner][0] - wanted(frame, corner, 0), rest[corner][1] - wanted(frame, corner, 1)));
    });
}
const passed = worst <= Number(tolerance) && moved > 5 * Number(tolerance);
console.log(`${passed ? 'same' : 'DIFFERS'} ${basename(model)}: three.js ${THREE.REVISION}, texture coordinates move by ${moved.toFixed(4)} of the texture, ` +
    `shown off by at most ${worst.toExponential(1)}`);
process.exit(passed ? 0 : 1);
