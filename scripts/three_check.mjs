// three_check.mjs {BAKED.glb POSITIONS.npy CLIP FPS TOLERANCE}...: what three.js shows of a .glb or .gltf against the positions of
// the same bake: its own loader, animation mixer, morph targets and skinning, on the CPU. Run with the folder that holds
// node_modules/three as the current one.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(process.cwd() + '/');
const THREE = await import(pathToFileURL(require.resolve('three').replace('three.cjs', 'three.module.js')));
globalThis.ProgressEvent ??= class {};
globalThis.self = globalThis; // the loader asks for a window's objects only when there are textures
const loaderPath = require.resolve('three/examples/jsm/loaders/GLTFLoader.js');
const { GLTFLoader } = await import(pathToFileURL(loaderPath));
const decoderPath = require.resolve('three/examples/jsm/libs/meshopt_decoder.module.js');
const { MeshoptDecoder } = await import(pathToFileURL(decoderPath));

// The bytes of a file; buffers beside a .gltf go into it, since there is no server to ask for them.
function readModel(path) {
    const bytes = readFileSync(path);
    if (!path.endsWith('.gltf')) return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    const root = JSON.parse(bytes);
    for (const buffer of root.buffers)
        if (!buffer.uri.startsWith('data:'))
            buffer.uri = 'data:application/octet-stream;base64,' + readFileSync(join(dirname(path), decodeURIComponent(buffer.uri))).toString('base64');
    return JSON.stringify(root);
}

// A vertex with more than four influences: three.js shows the first four, so that the sum is taken here, of its matrices.
function skinAll(mesh, index, point) {
    const { attributes } = mesh.geometry, rest = point.clone().fromBufferAttribute(attributes.position, index);
    const sum = new THREE.Vector3(), matrix = new THREE.Matrix4(), moved = new THREE.Vector3();
    const morphs = mesh.geometry.morphAttributes.position ?? [], offset = new THREE.Vector3();
    morphs.forEach((morph, k) => rest.addScaledVector(offset.fromBufferAttribute(morph, index), mesh.morphTargetInfluences[k]));
    let total = 0;
    for (const [joints, weights] of [[attributes.skinIndex, attributes.skinWeight], [attributes.joints_1, attributes.weights_1]])
        for (let k = 0; k < 4; k++) {
            // the loader scales the first four to a sum of 1
            const first = attributes.weights_1 ? 1 - [0, 1, 2, 3].reduce((s, i) => s + attributes.weights_1.getComponent(index, i), 0) : 1;
            const weight = weights.getComponent(index, k) * (weights === attributes.skinWeight ? first : 1);
            const bone = joints.getComponent(index, k);
            matrix.multiplyMatrices(mesh.skeleton.bones[bone].matrixWorld, mesh.skeleton.boneInverses[bone]);
            sum.addScaledVector(moved.copy(rest).applyMatrix4(matrix), weight);
            total += weight;
        }
    return point.copy(sum).divideScalar(total);
}

async function check(model, npy, name, rate, tolerance) {
    const data = readFileSync(npy), start = 10 + data.readUInt16LE(8);
    const header = data.toString('latin1', 10, start);
    const shape = /'shape': \((\d+), (\d+), (\d+)\)/.exec(header).slice(1).map(Number);
    const at = (frame, vertex, k) => data.readFloatLE(start + 4 * ((frame * shape[1] + vertex) * 3 + k));

    const content = readModel(model);
    const gltf = await new Promise((resolve, reject) => new GLTFLoader().setMeshoptDecoder(MeshoptDecoder).parse(content, '', resolve, reject));
    const meshes = [];
    gltf.scene.traverse(node => { if (node.isMesh && node.geometry.attributes.position) meshes.push(node); });
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
                if (mesh.geometry.attributes.joints_1) {
                    skinAll(mesh, i, point);
                } else {
                    mesh.getVertexPosition(i, point);
                    mesh.localToWorld(point);
                }
                for (let k = 0; k < 3; k++) {
                    const difference = Math.abs(point.getComponent(k) - at(frame, vertex, k));
                    worst = Math.max(worst, Number.isFinite(difference) ? difference : Infinity);
                }
            }
        }
        if (vertex !== shape[1]) throw new Error(`${basename(model)}: three.js has ${vertex} vertices, the bake ${shape[1]}`);
    }
    worst /= bounds.getSize(point).length();
    const passed = worst <= Number(tolerance);
    console.log(`${passed ? 'same' : 'DIFFERS'} ${basename(model)}: three.js ${THREE.REVISION}, ${shape[0]} frames, ${meshes.length} meshes, off by at most ${worst.toExponential(1)} of the size`);
    return passed;
}

const list = process.argv.slice(2);
let failures = 0;
for (let i = 0; i + 4 < list.length; i += 5) {
    try {
        failures += !(await check(...list.slice(i, i + 5)));
    } catch (error) {
        console.log(`FAILED ${basename(list[i])}: ${error.message}`);
        failures++;
    }
}
process.exit(failures ? 1 : 0);
