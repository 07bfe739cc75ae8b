// three_check.mjs BAKED.glb POSITIONS.npy CLIP FPS TOLERANCE: what three.js shows of a baked .glb against the positions of the
// same bake: its own loader, animation mixer, morph targets and skinning, on the CPU. Run with the folder that holds
// node_modules/three as the current one.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(process.cwd() + '/');
const THREE = await import(pathToFileURL(require.resolve('three').replace('three.cjs', 'three.module.js')));
globalThis.self = globalThis; // the loader asks for a window's objects only when there are textures
const loaderPath = require.resolve('three/examples/jsm/loaders/GLTFLoader.js');
const { GLTFLoader } = await import(pathToFileURL(loaderPath));
const decoderPath = require.resolve('three/examples/jsm/libs/meshopt_decoder.module.js');
const { MeshoptDecoder } = await import(pathToFileURL(decoderPath));

const [glb, npy, name, rate, tolerance] = process.argv.slice(2);
const data = readFileSync(npy), start = 10 + data.readUInt16LE(8);
const header = data.toString('latin1', 10, start);
const shape = /'shape': \((\d+), (\d+), (\d+)\)/.exec(header).slice(1).map(Number);
const at = (frame, vertex, k) => data.readFloatLE(start + 4 * ((frame * shape[1] + vertex) * 3 + k));

const bytes = readFileSync(glb);
const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
const gltf = await new Promise((resolve, reject) => new GLTFLoader().setMeshoptDecoder(MeshoptDecoder).parse(buffer, '', resolve, reject));
const meshes = [];
gltf.scene.traverse(node => { if (node.isMesh) meshes.push(node); });
const mixer = new THREE.AnimationMixer(gltf.scene);
const clip = gltf.animations.find(animation => animation.name === name) ?? gltf.animations[0]; // nameless ones are numbered
const first = Math.min(...clip.tracks.map(track => track.times[0])); // a bake begins with the clip's first key
const action = mixer.clipAction(clip);
action.setLoop(THREE.LoopOnce);
action.clampWhenFinished = true;
action.play();

let worst = 0;
const bounds = new THREE.Box3(), point = new THREE.Vector3();
for (let i = 0; i < shape[1]; i++) bounds.expandByPoint(point.set(at(0, i, 0), at(0, i, 1), at(0, i, 2)));
for (let frame = 0; frame < shape[0]; frame++) {
    mixer.setTime(Math.min(first + frame / Number(rate), clip.duration));
    gltf.scene.updateMatrixWorld(true);
    let vertex = 0;
    for (const mesh of meshes) {
        if (mesh.isSkinnedMesh) mesh.skeleton.update();
        for (let i = 0; i < mesh.geometry.attributes.position.count; i++, vertex++) {
            mesh.getVertexPosition(i, point);
            mesh.localToWorld(point);
            for (let k = 0; k < 3; k++) {
                const expected = at(frame, vertex, k);
                worst = Math.max(worst, Math.abs(point.getComponent(k) - expected));
            }
        }
    }
    if (vertex !== shape[1]) throw new Error(`three.js has ${vertex} vertices, the bake ${shape[1]}`);
}
worst /= bounds.getSize(point).length();
console.log(`three.js ${THREE.REVISION}: ${shape[0]} frames, ${meshes.length} meshes, off by at most ${(100 * worst).toFixed(4)} % of the size`);
process.exit(worst <= Number(tolerance) ? 0 : 1);
