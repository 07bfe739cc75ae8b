/*
 * hand.js: what the pointer does in the view: turn it, grab flesh, hit it, paint, choose and turn joints, move props.
 */
import * as THREE from "three";

const HINTS = {
  orbit: "",
  grab: "drag the flesh; release to throw it",
  blow: "click where the flesh is hit",
  paint: "drag over the skin; [ and ] change the brush",
  joint: "click a joint, then turn it with the rings",
};

const GRIP = 0.05; // of the size: the flesh around the pointer that a hand takes
const MAX_DRAGS = 16; // that a step takes

/** Six digits: a project shows them, and the flesh feels the same. */
export const tidy = (position) => position.map((x) => Number(x.toPrecision(6)));

export class Hand {
  constructor(app) {
    this.app = app;
    this.tool = "orbit";
    this.brush = { map: "stiffness", target: 0, radius: 0.06, strength: 0.5 };
    this.prop = -1;
    this.pivot = new THREE.Object3D();
    this.ring = new THREE.Mesh(new THREE.TorusGeometry(1, 0.02, 6, 48), new THREE.MeshBasicMaterial({ color: 0xffffff, depthTest: false, transparent: true, opacity: 0.8 }));
    this.ring.visible = false;
    this.thread = new THREE.Line(new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3()]), new THREE.LineBasicMaterial({ color: 0xff7a4d, depthTest: false }));
    this.thread.visible = false;
    this.thread.frustumCulled = false;
    app.view.scene.add(this.pivot, this.ring, this.thread);
    const canvas = app.view.canvas;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.up(event));
    app.view.gizmo.addEventListener("objectChange", () => this.gizmoMoved());
    app.view.gizmo.addEventListener("mouseUp", () => this.gizmoDone());
    this.use("orbit");
  }
  use(tool) {
    const { app } = this;
    const left = this.tool === "paint" && tool !== "paint";
    this.tool = tool;
    for (const [name, button] of Object.entries(app.toolButtons)) button.setAttribute("aria-pressed", String(name === tool));
    app.hint.textContent = HINTS[tool];
    app.view.canvas.style.cursor = { grab: "grab", blow: "crosshair", paint: "none" }[tool] ?? "default";
    this.ring.visible = false;
    if (tool === "joint") app.setSkeleton(true);
    if (left && this.coloring && app.view.coloring.startsWith("map:")) app.setColoring(this.coloring);
    if (left) this.coloring = null;
    if (tool === "paint" && app.description) {
      this.coloring ??= app.view.coloring; // comes back when the brush is put away
      app.setColoring(`map:${this.brush.map}`);
      app.showPanel("touch");
      app.setPlaying(false);
    }
    if (tool !== "joint" && this.turning !== undefined) this.endTurn();
    app.view.dirty = true;
  }
  /** Let go of everything. */
  release() {
    this.grabbed = null;
    this.thread.visible = false;
    this.prop = -1;
    this.turning = undefined;
    this.app.view.gizmo.detach();
    this.app.engine.ask("hand", { drags: [], impulses: [], joint: null });
  }
  resize(factor) {
    this.brush.radius = Math.min(0.25, Math.max(0.01, this.brush.radius * factor));
    this.app.touchPanel();
  }

  down(event) {
    const { app } = this;
    if (event.button !== 0 || app.view.gizmo.axis || !app.description) return;
    const bone = app.view.showSkeleton && this.tool !== "paint" ? app.view.pickJoint(event) : -1;
    if (bone >= 0) {
      app.chooseBone(bone);
      if (this.tool === "joint") return;
    }
    if (this.tool === "orbit") return;
    const hit = app.view.pick(event);
    if (!hit) return;
    if (this.tool === "grab") {
      this.grabbed = { vertex: hit.vertex, from: hit.point, held: this.grip(hit.vertex) };
      app.view.orbit.enabled = false;
      app.view.canvas.setPointerCapture(event.pointerId);
      app.view.canvas.style.cursor = "grabbing";
      this.pull(event);
      if (!app.playing) app.setPlaying(true);
    } else if (this.tool === "blow") {
      const velocity = app.view.camera.getWorldDirection(new THREE.Vector3()).multiplyScalar(1.2 * app.description.size);
      app.engine.ask("hand", { impulses: [{ place: hit.point.toArray(), radius: 0.12 * app.description.size, velocity: velocity.toArray() }] });
      if (!app.playing) app.setPlaying(true);
      app.view.orbit.enabled = false;
    } else if (this.tool === "paint") {
      app.view.orbit.enabled = false;
      app.view.canvas.setPointerCapture(event.pointerId);
      app.painter.begin(this.brush.map, app.description.vertexCount);
      this.painting = true;
      this.dab(hit);
    }
  }
  move(event) {
    const { app } = this;
    if (this.grabbed) this.pull(event);
    if (this.tool === "paint" && app.description) {
      const hit = app.view.pick(event);
      this.ring.visible = Boolean(hit);
      if (hit) {
        this.ring.position.copy(hit.point);
        this.ring.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), hit.normal);
        this.ring.scale.setScalar(this.brush.radius * app.description.size);
        if (this.painting) this.dab(hit);
      }
      app.view.dirty = true;
    }
  }
  up() {
    const { app } = this;
    app.view.orbit.enabled = true;
    if (this.grabbed) {
      this.grabbed = null;
      this.thread.visible = false;
      app.engine.ask("hand", { drags: [] });
      app.view.canvas.style.cursor = "grab";
    }
    if (this.painting) {
      this.painting = false;
      app.painter.end();
    }
  }
  dab({ point }) {
    const { app, brush } = this;
    app.painter.dab(app.view.geometry.attributes.position.array, point, brush.radius * app.description.size, brush.target, brush.strength);
    app.view.setMap(app.painter.maps[brush.map]);
  }
  pull(event) {
    const { app } = this;
    const target = app.view.onPlane(event, this.grabbed.from);
    if (!target) return;
    this.grabbed.target = target;
    const drags = this.grabbed.held.map(({ vertex, offset, strength }) => ({ vertex, target: target.toArray().map((x, k) => x + offset[k]), strength }));
    app.engine.ask("hand", { drags });
    this.follow();
  }
  /** The vertices that a hand holds around one: each with its way from there, the farther the weaker; one vertex a point. */
  grip(middle) {
    const { view, description } = this.app;
    const positions = view.geometry.attributes.position.array;
    const reach = GRIP * description.size;
    const found = [];
    const points = new Set();
    for (let v = 0; v < description.vertexCount; v++) {
      const offset = [0, 1, 2].map((k) => positions[3 * v + k] - positions[3 * middle + k]);
      const distance = Math.hypot(...offset) / reach;
      if (distance >= 1 || points.has(description.points[v])) continue;
      points.add(description.points[v]);
      found.push({ vertex: v, offset, distance, strength: 0.8 * (1 - distance * distance) });
    }

    // spread over the whole of it where there are too many
    found.sort((a, b) => a.distance - b.distance);
    const step = Math.max(1, found.length / MAX_DRAGS);
    return Array.from({ length: Math.min(MAX_DRAGS, found.length) }, (_, i) => found[Math.floor(i * step)]);
  }
  /** A frame came: the thread from skin to pointer goes along. */
  follow() {
    if (!this.grabbed?.target) return;
    const position = this.thread.geometry.attributes.position;
    const skin = this.app.view.geometry.attributes.position;
    position.setXYZ(0, skin.getX(this.grabbed.vertex), skin.getY(this.grabbed.vertex), skin.getZ(this.grabbed.vertex));
    position.setXYZ(1, ...this.grabbed.target.toArray());
    position.needsUpdate = true;
    this.thread.visible = true;
    this.app.view.dirty = true;
  }

  // ---- gizmo: props move, joints turn, landmarks move ----

  moveProp(index) {
    this.prop = index;
    const { gizmo } = this.app.view;
    const prop = this.app.project.props[index];
    if (!prop) {
      gizmo.detach();
      return;
    }
    this.turning = undefined;
    this.landmark = null;
    this.pivot.position.fromArray(prop.position ?? [0, 0, 0]);
    this.pivot.quaternion.identity();
    gizmo.setMode("translate");
    gizmo.attach(this.pivot);
    this.app.touchPanel();
  }
  boneChosen() {
    const { app } = this;
    if (this.app.rigPanel?.placing) return app.rigPanel.chooseJoint(app.bone);
    if (this.tool !== "joint" || app.bone < 0) return null;
    this.prop = -1;
    this.turning = app.bone;
    this.pivot.position.copy(app.view.jointPlace(app.bone));
    this.pivot.quaternion.identity();
    app.view.gizmo.setMode("rotate");
    app.view.gizmo.attach(this.pivot);
    return null;
  }
  moveLandmark(name, position, moved) {
    this.prop = -1;
    this.turning = undefined;
    this.landmark = { name, moved };
    this.pivot.position.copy(position);
    this.pivot.quaternion.identity();
    this.app.view.gizmo.setMode("translate");
    this.app.view.gizmo.attach(this.pivot);
  }
  gizmoMoved() {
    const { app } = this;
    if (this.turning !== undefined) {
      app.engine.ask("hand", { joint: { index: this.turning, quaternion: this.pivot.quaternion.toArray() } });
      if (!app.playing) app.setPlaying(true);
    } else if (this.landmark) {
      this.landmark.moved(this.landmark.name, this.pivot.position.toArray());
    }
  }
  gizmoDone() {
    const { app } = this;
    const prop = app.project.props[this.prop];
    if (!prop) return;
    prop.position = tidy(this.pivot.position.toArray());
    app.touchPanel();
    app.build();
  }
  endTurn() {
    this.turning = undefined;
    this.app.view.gizmo.detach();
    this.app.engine.ask("hand", { joint: null });
  }
}
