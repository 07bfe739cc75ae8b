/*
 * motions.js: motions of a person, as BVH text, for characters whose file has none. The library matches joints by their names and
 * turns and scales the motion to the character. The person faces +z and stands in a T-pose; angles are in degrees.
 */
const FPS = 30;
const THIGH = 0.42;
const SHIN = 0.42;
const HIPS = 0.95;

// name, parent, offset from the parent in metres
const JOINTS = [["Hips", null, [0, HIPS, 0]], ["Spine", "Hips", [0, 0.12, 0]], ["Chest", "Spine", [0, 0.2, 0]],
  ["Neck", "Chest", [0, 0.24, 0]], ["Head", "Neck", [0, 0.1, 0.01]],
  ...[["Left", 1], ["Right", -1]].flatMap(([side, x]) => [
    [`${side}Shoulder`, "Chest", [0.04 * x, 0.18, 0]], [`${side}Arm`, `${side}Shoulder`, [0.14 * x, 0, 0]],
    [`${side}ForeArm`, `${side}Arm`, [0.28 * x, 0, 0]], [`${side}Hand`, `${side}ForeArm`, [0.26 * x, 0, 0]],
    [`${side}UpLeg`, "Hips", [0.1 * x, -0.04, 0]], [`${side}Leg`, `${side}UpLeg`, [0, -THIGH, 0]],
    [`${side}Foot`, `${side}Leg`, [0, -SHIN, 0]], [`${side}ToeBase`, `${side}Foot`, [0, -0.06, 0.13]]])];

const radians = (degrees) => (degrees * Math.PI) / 180;

/** Rotations about x, z, y of an arm: lowered from the T-pose, swung forward, bent at the elbow. */
function arm(pose, side, { down = 75, forward = 0, elbow = 20 }) {
  const x = side === "Left" ? 1 : -1;
  pose[`${side}Arm`] = [-forward, -x * down, 0];
  pose[`${side}ForeArm`] = [0, 0, -x * elbow];
}

/** A leg: thigh forward, knee bent; the foot is turned by `foot` against the ground. */
function leg(pose, side, { thigh, knee, foot = 0, out = 0 }) {
  pose[`${side}UpLeg`] = [-thigh, side === "Left" ? out : -out, 0];
  pose[`${side}Leg`] = [knee, 0, 0];
  pose[`${side}Foot`] = [thigh - knee + foot, 0, 0];
}

/** Hips over feet that stand: their height and place for a thigh and a knee. */
function stand(pose, thigh, knee) {
  const [a, b] = [radians(thigh), radians(knee - thigh)];
  pose.place = [0, HIPS - THIGH * (1 - Math.cos(a)) - SHIN * (1 - Math.cos(b)), SHIN * Math.sin(b) - THIGH * Math.sin(a)];
}

function run(t) {
  const p = 2 * Math.PI * t;
  const pose = { Hips: [6, 0, -6 * Math.sin(p)], Spine: [8, 0, 6 * Math.sin(p)], Chest: [2, 0, 8 * Math.sin(p)],
    Head: [-10, 0, 0], place: [0, HIPS - 0.05 + 0.04 * Math.cos(2 * p), 0] };
  [["Left", p], ["Right", p + Math.PI]].forEach(([side, q]) => {
    const knee = 52 + 44 * Math.cos(q);
    leg(pose, side, { thigh: 16 + 38 * Math.sin(q), knee, foot: 18 * Math.max(0, -Math.sin(q)) });
    arm(pose, side, { forward: -8 - 40 * Math.sin(q), elbow: 85, down: 72 });
  });
  return pose;
}

function dance(t) {
  const p = 8 * Math.PI * t; // four swings
  const bounce = 0.5 - 0.5 * Math.cos(2 * p);
  const pose = { Hips: [0, 9 * Math.sin(p), 12 * Math.sin(p / 2)], Spine: [4, -10 * Math.sin(p), 8 * Math.sin(p / 2)],
    Chest: [2, -6 * Math.sin(p), 10 * Math.sin(p / 2 + 0.5)], Head: [0, 5 * Math.sin(p), -10 * Math.sin(p / 2)] };
  const thigh = 10 + 14 * bounce;
  stand(pose, thigh, 2 * thigh);
  pose.place[0] = 0.05 * Math.sin(p);
  [["Left", p], ["Right", p + Math.PI]].forEach(([side, q]) => {
    leg(pose, side, { thigh, knee: 2 * thigh, out: 6 });
    arm(pose, side, { down: 15 + 35 * Math.sin(q), forward: 25 + 15 * Math.cos(q), elbow: 75 + 25 * Math.cos(q) });
  });
  return pose;
}

function squat(t) {
  const s = 0.5 - 0.5 * Math.cos(2 * Math.PI * t);
  const thigh = 92 * s;
  const knee = 112 * s;
  const pose = { Hips: [0, 0, 0], Spine: [22 * s, 0, 0], Chest: [12 * s, 0, 0], Head: [-20 * s, 0, 0] };
  stand(pose, thigh, knee);
  for (const side of ["Left", "Right"]) {
    leg(pose, side, { thigh, knee, out: 8 });
    arm(pose, side, { down: 70, forward: 80 * s, elbow: 12 + 10 * s });
  }
  return pose;
}

const MADE = { run: { seconds: 0.7, pose: run }, dance: { seconds: 4, pose: dance }, squat: { seconds: 2.4, pose: squat } };
/** Clips of the built-in man, and those made here. */
export const MOTIONS = ["walk", "run", "jump", "dance", "squat", "shimmy"];

/** The BVH text of a motion; null: it is a clip of the built-in man. */
export function motionText(name) {
  const motion = MADE[name];
  if (!motion) return null;
  const order = [];
  const write = (joint, depth) => {
    const [own, parent, offset] = joint;
    const pad = "  ".repeat(depth);
    order.push(own);
    const channels = parent ? "3 Xrotation Zrotation Yrotation" : "6 Xposition Yposition Zposition Xrotation Zrotation Yrotation";
    const children = JOINTS.filter(([, above]) => above === own);
    const inner = children.length ? children.map((child) => write(child, depth + 1)).join("")
      : `${pad}  End Site\n${pad}  {\n${pad}    OFFSET 0 0.02 0.02\n${pad}  }\n`;
    return `${pad}${parent ? "JOINT" : "ROOT"} ${own}\n${pad}{\n${pad}  OFFSET ${offset.join(" ")}\n${pad}  CHANNELS ${channels}\n${inner}${pad}}\n`;
  };
  const hierarchy = write(JOINTS[0], 0);
  const count = Math.round(motion.seconds * FPS) + 1;
  const frames = Array.from({ length: count }, (_, i) => {
    const pose = motion.pose(i / (count - 1));
    return [...pose.place, ...order.flatMap((joint) => pose[joint] ?? [0, 0, 0])].map((x) => x.toFixed(4)).join(" ");
  });
  return `HIERARCHY\n${hierarchy}MOTION\nFrames: ${count}\nFrame Time: ${(1 / FPS).toFixed(7)}\n${frames.join("\n")}\n`;
}
