/*
 * main.js: the page: what is open, what is chosen, and who is told. All simulation is in the worker (simulation.js), all
 * drawing in view.js; the panels are made from the library's tables.
 */
import "./style.css";

import { BakePanel } from "./bake_panel.js";
import { gradient } from "./colors.js";
import { element, fillSelect, iconButton, row, segmented, select, toggle, fold } from "./dom.js";
import { Engine } from "./engine.js";
import { Hand, tidy } from "./hand.js";
import { Painter, MAPS } from "./paint.js";
import { number, parameterControls, seconds } from "./parameters.js";
import { Preview } from "./preview.js";
import { readProject } from "./project.js";
import { RigPanel } from "./rig_panel.js";
import { Timeline } from "./timeline.js";
import { LEVELS, verdictNotes } from "./verdict.js";
import { View } from "./view.js";

const DRAFT = 1500; // points of the body that a page starts with: quick to build, near real time

export class App {
  constructor(host) {
    this.engine = new Engine();
    this.project = { solver: null, over: "", settings: {}, detail: DRAFT, clip: null, props: [] };
    this.description = null;
    this.playing = false;
    this.bone = -1;
    this.layout(host);
    this.view = new View(this.canvasHost);
    this.view.theme(document.documentElement.dataset.theme);
    this.painter = new Painter(() => this.painted());
    this.hand = new Hand(this);
    this.engine.onframe = (message) => this.frame(message);
    this.engine.onended = () => this.setPlaying(false);
    this.engine.onstage = ({ text, share }) => this.working(text, share);
    this.engine.onverdict = (message) => this.setVerdict(message);
    this.engine.onerror = (text) => this.say(`The simulation stopped: ${text}. Reload the page to go on.`);
    this.keys();
    this.files();
    this.ready = this.start();
  }

  // ---- the page ----

  layout(host) {
    this.fileLabel = element("span.file", { title: "the open file" }, "");
    this.clipSelect = select("clip", [], "", (value) => this.setClip(value), { title: "motion", hidden: true });
    this.modeControl = segmented("compare with plain skinning", [
      { value: "one", label: "Flesh", title: "the simulation alone (1)" },
      { value: "ghost", label: "Ghost", title: "plain skinning behind it, in blue (2)" },
      { value: "split", label: "Split", title: "plain skinning on the left, flesh on the right (3)" },
    ], "one", (mode) => this.setMode(mode));
    this.input = element("input", { type: "file", hidden: true, multiple: true, accept: ".glb,.gltf,.vrm,.fbx,.dae,.obj,.ply,.stl,.off,.bvh,.json", onchange: () => {
      this.openFiles([...this.input.files]);
      this.input.value = "";
    } });
    const top = element("header.top", {}, element("h1.brand", {}, "cutis studio"),
      element("button", { type: "button", title: "open a character, a motion or a project (O)", onclick: () => this.input.click() }, "Open…"),
      this.fileLabel, this.clipSelect, element("span.grow"), this.modeControl, element("span.grow"),
      iconButton("sun", "light or dark (T)", () => this.toggleTheme()), iconButton("help", "keys and help (?)", () => this.help.showModal()), this.input);

    this.canvasHost = element("div.canvas-host");
    this.toolButtons = Object.fromEntries([["orbit", "orbit", "turn the view (Q)"], ["grab", "hand", "grab the flesh and throw it (G)"], ["blow", "blow", "hit the flesh (B)"],
      ["paint", "brush", "paint on the skin (P)"], ["joint", "bone", "turn a joint (J)"]].map(([tool, name, label]) => [tool, iconButton(name, label, () => this.hand.use(tool), { "aria-pressed": "false" })]));
    this.verdictBadge = element("button.badge.verdict", { type: "button", hidden: true, onclick: () => this.showPanel("solver") });
    this.slowBadge = element("div.badge.slow");
    this.hint = element("div.hint", { "aria-live": "polite" });
    this.scaleBar = element("div.bar");
    this.scaleEnds = element("div.ends");
    this.scaleName = element("div");
    this.scaleBox = element("div.scale.badge", { hidden: true }, this.scaleName, this.scaleBar, this.scaleEnds);
    this.divider = element("div.divider", { hidden: true, role: "separator", "aria-label": "between plain skinning and flesh", tabIndex: 0 }, element("span", {}, "skinning"), element("span", {}, "flesh"));
    this.busyBar = element("div.busy", { role: "progressbar", "aria-label": "working" });
    this.stage = element("div.stage", { "aria-live": "polite" });
    this.chips = element("div.chips");
    this.welcome = element("div.drop", {}, element("div.card", {}, element("h2", {}, "Drop a character here"),
      element("p.dim", {}, ".glb, .gltf, .vrm, .fbx, .dae, .obj, .ply, .stl or .off. Nothing leaves this computer."), this.chips));
    this.toolBar = element("div.tools", { role: "toolbar", "aria-label": "tools", hidden: true }, ...Object.values(this.toolButtons));
    const view = element("main.view", {}, this.canvasHost, this.toolBar,
      element("div.badges", {}, this.verdictBadge, this.slowBadge), this.scaleBox, this.divider, this.hint, this.stage, this.welcome, this.busyBar);

    this.timeline = new Timeline({ toggle: () => this.setPlaying(!this.playing), seek: (to) => this.seek(to), step: (by) => this.seek(this.timeline.frame + by),
      speed: (value) => this.engine.ask("speed", { value }), looping: (on) => this.engine.ask("looping", { on }) });
    this.panels = {};
    this.tabs = element("div.tabs", { role: "tablist", "aria-label": "panels" });
    const side = element("aside.side", { "aria-label": "settings" }, this.tabs);
    for (const [name, label] of [["solver", "Solver"], ["look", "Look"], ["touch", "Touch"], ["rig", "Rig"], ["bake", "Bake"]]) {
      const panel = element("section.panel", { id: `panel_${name}`, role: "tabpanel", "aria-label": label, hidden: name !== "solver", tabIndex: 0 });
      const tab = element("button", { type: "button", role: "tab", id: `tab_${name}`, "aria-selected": String(name === "solver"), "aria-controls": panel.id, onclick: () => this.showPanel(name) }, label);
      this.panels[name] = { panel, tab };
      this.tabs.append(tab);
      side.append(panel);
    }
    this.toasts = element("div.toasts", { role: "alert", "aria-live": "assertive" });
    this.help = this.makeHelp();
    host.append(top, view, this.timeline.element, side, this.toasts, this.help);
    this.dividerDrag();
  }
  makeHelp() {
    const keys = [["Space", "play or pause"], ["← →", "one frame back or further"], ["Home", "first frame"], ["1 2 3", "flesh, ghost, split view"], ["Q G B P J", "turn the view, grab, blow, paint, turn a joint"],
      ["F", "frame the character"], ["W", "wireframe"], ["K", "skeleton"], ["[ ]", "brush size"], ["Ctrl Z, Ctrl Y", "undo and redo paint"], ["L", "start again at the end, or not"], ["O", "open"], ["T", "light or dark"]];
    const made = element("dialog", { "aria-label": "keys and help" }, element("h2", {}, "Keys"),
      element("dl.keys", {}, ...keys.flatMap(([key, text]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, text)])),
      element("p.dim", {}, "Every slider is a parameter of the solver: its tooltip says what it does. What you see is what a bake writes: the same library computes both, to the bit."),
      element("div.buttons", {}, element("button.primary", { type: "button", onclick: () => made.close() }, "Close")));
    return made;
  }
  showPanel(name) {
    for (const [own, { panel, tab }] of Object.entries(this.panels)) {
      panel.hidden = own !== name;
      tab.setAttribute("aria-selected", String(own === name));
    }
  }
  say(text, kind = "error") {
    const close = iconButton("close", "close", () => toast.remove());
    const toast = element(`div.toast.${kind}`, {}, element("span.grow", {}, text), close);
    this.toasts.append(toast);
    if (kind !== "error") setTimeout(() => toast.remove(), 5000);
    while (this.toasts.children.length > 3) this.toasts.firstChild.remove();
  }
  /** What goes on, in the view's middle; share: of the work that is done, null: not known. */
  working(text, share = null) {
    this.stage.textContent = text && `${text}${share === null ? "" : `, ${Math.floor(100 * share)} %`}`;
  }
  async busy(work, text = "") {
    this.busyBar.hidden = false;
    this.working(text);
    try {
      return await work();
    } catch (error) {
      this.say(error.message);
      return null;
    } finally {
      this.busyBar.hidden = true;
      this.working("");
    }
  }
  toggleTheme() {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("cutis.theme", theme);
    this.view.theme(theme);
    this.timeline.draw();
  }

  // ---- opening ----

  async start() {
    const threads = globalThis.crossOriginIsolated ? Math.max(1, Math.min(4, (navigator.hardwareConcurrency || 2) - 1)) : 1; // one core draws
    this.tables = await this.busy(() => this.engine.ask("start", { threads }));
    if (!this.tables) return;
    this.chips.append(...this.tables.zoo.map(({ name, summary }) => element("button", { type: "button", title: summary, onclick: () => this.open({ zoo: name }) }, name)));
    this.project.solver = this.tables.solvers.find((solver) => solver.preferred).name;
    this.rigPanel = new RigPanel(this, this.panels.rig.panel);
    this.bakePanel = new BakePanel(this, this.panels.bake.panel);
    this.solverPanel();
    this.lookPanel();
    this.touchPanel();
    const wanted = new URLSearchParams(location.search);
    if (wanted.get("open")) await this.openUrl(wanted.get("open"));
    else if (wanted.get("zoo")) await this.open({ zoo: wanted.get("zoo") });
  }
  async openUrl(url) {
    await this.busy(async () => {
      const answer = await fetch(url);
      if (!answer.ok) throw new Error(`${url} cannot be fetched: ${answer.status} ${answer.statusText}`);
      await this.open({ bytes: await answer.arrayBuffer(), name: decodeURIComponent(url.split("/").at(-1)) });
    });
  }
  files() {
    const stop = (event) => event.preventDefault();
    addEventListener("dragover", (event) => {
      stop(event);
      this.welcome.hidden = false;
    });
    addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) this.welcome.hidden = Boolean(this.description);
    });
    addEventListener("drop", (event) => {
      stop(event);
      this.welcome.hidden = Boolean(this.description);
      this.openFiles([...event.dataTransfer.files]);
    });
  }
  async openFiles(list) {
    for (const file of list) {
      const bytes = await file.arrayBuffer();
      if (/\.json$/i.test(file.name)) await this.openProject(new TextDecoder().decode(bytes));
      else if (/\.bvh$/i.test(file.name)) await this.rigPanel.motion({ bytes, name: file.name });
      else await this.open({ bytes, name: file.name });
    }
  }
  async open(given) {
    this.setPlaying(false);
    const description = await this.busy(() => this.engine.ask("open", given, given.bytes ? [given.bytes] : []), `opening ${given.name ?? given.zoo}`);
    if (!description) return false;
    this.fileLabel.textContent = given.name ?? `${given.zoo} (built in)`;
    this.rigPanel.forget();
    this.project = { ...this.project, settings: {}, props: [], over: "", solver: this.tables.solvers.find((solver) => solver.preferred).name };
    await this.take(description);
    return true;
  }
  /** Another character stands in the page; clip: the one to play, instead of the first. */
  async take(description, clip = null) {
    this.description = description;
    this.welcome.hidden = true;
    this.bone = -1;
    this.painter.clear();
    this.hand.release();
    this.project.props = [];
    this.project.clip = clip ?? firstClip(description.clips);
    if (!description.skinned) this.project.solver = this.tables.solvers.find((solver) => solver.baseline).name;
    fillSelect(this.clipSelect, description.clips.length ? description.clips.map((clip) => ({ value: clip.name, label: `${clip.name} · ${number(clip.end - clip.start)} s` })) : [{ value: "", label: "no clip" }], this.project.clip ?? "");
    this.clipSelect.disabled = description.clips.length < 2;
    this.clipSelect.hidden = false;
    this.toolBar.hidden = false;
    await this.view.show(description);
    const preview = await this.startPreview(description);
    for (const text of description.warnings.slice(0, 2)) this.say(text, "warning");
    this.solverPanel();
    this.lookPanel();
    this.touchPanel();
    this.rigPanel.show();
    this.bakePanel.clear();
    const built = await this.build({ restart: true });
    if (this.preview !== preview) return; // another character was opened meanwhile
    this.preview = null;
    preview.stop();
    if (!description.skinned) this.showPanel("rig");
    else if (built && description.clips.length) {
      await this.engine.ask("join", { to: preview.at });
      this.setPlaying(true);
    }
  }
  /** Plain skinning moves until the flesh is built. */
  async startPreview(description) {
    this.preview?.stop();
    const poses = await this.engine.ask("poses", { clip: this.project.clip });
    this.preview = new Preview(description, poses, (frame) => this.view.frame(frame, []));
    this.preview.start();
    return this.preview;
  }

  // ---- the model ----

  solverName() {
    return this.project.over ? `${this.project.solver}+${this.project.over}` : this.project.solver;
  }
  /** Builds follow each other; while one runs, the newest request waits. */
  async build(more = {}) {
    if (!this.description) return false;
    this.wanted = { ...this.wanted, ...more };
    if (this.building) return this.building;
    this.building = (async () => {
      let ok = true;
      while (this.wanted) {
        const extra = this.wanted;
        this.wanted = null;
        this.setVerdict(null);
        const made = await this.busy(() => this.engine.ask("build", { solver: this.solverName(), settings: this.project.settings, detail: this.project.detail, clip: this.project.clip,
          props: this.project.props.map(({ name, position, scale }) => ({ name, position, scale })), maps: this.painter.given(), ...extra }));
        ok = Boolean(made);
        if (made) this.built(made, extra);
      }
      return ok;
    })();
    const result = await this.building;
    this.building = null;
    return result;
  }
  built(made, { restart }) {
    this.info = made.info;
    this.view.setProps(made.props);
    if (restart || made.frames !== this.timeline.frames) this.timeline.reset(made.frames);
    const { info } = made;
    const solver = this.tables.solvers.find((one) => one.name === this.project.solver);
    this.infoLine.replaceChildren(
      `${info.elementCount.toLocaleString("en")} ${solver.element}${info.bodyPoints ? `, ${info.bodyPoints.toLocaleString("en")} points of flesh` : ""}; built in ${seconds(made.seconds)}`);
    this.warningBox.replaceChildren(...info.warnings.map((text) => element("div.note.warning", {}, text)),
      ...info.notes.map((text) => element("div.note", {}, text)));
    this.engine.ask("view", { ghost: this.view.mode !== "one", color: this.view.coloring });
  }
  /** What the library says of the clip's first undisturbed round; null: not known yet. */
  setVerdict(message) {
    this.verdict = message;
    this.verdictBadge.hidden = !message;
    if (message) {
      this.verdictBadge.className = `badge verdict ${message.verdict.level}`;
      this.verdictBadge.textContent = LEVELS[message.verdict.level];
      this.verdictBadge.title = message.verdict.text;
    }
    this.verdictBox?.replaceChildren(...(message ? verdictNotes(message.verdict, (frame) => this.seek(message.frames * frame), 3) : []));
  }
  /** How far the clip has been judged. */
  judging(share) {
    if (share === null || this.verdict) return;
    const text = `Judging the clip against plain skinning: ${Math.floor(100 * share)} %`;
    if (this.verdictBox.textContent !== text) this.verdictBox.replaceChildren(element("p.dim", {}, text));
  }
  setSetting(key, value) {
    if (value === undefined) delete this.project.settings[key];
    else this.project.settings[key] = value;
    return this.build();
  }
  setSolver(solver) {
    this.project.solver = solver;
    this.project.settings = {};
    this.project.over = "";
    this.solverPanel();
    this.lookPanel();
    return this.build({ restart: true });
  }
  setClip(clip) {
    this.project.clip = clip || null;
    this.clipSelect.value = clip;
    return this.build({ restart: true });
  }

  solverPanel() {
    const { solvers } = this.tables;
    const chosen = solvers.find((one) => one.name === this.project.solver);
    const over = solvers.find((one) => one.name === this.project.over);
    const bodies = solvers.filter((one) => !one.surface);
    const surfaces = solvers.filter((one) => one.surface);
    const change = (key, value) => this.setSetting(key, value);
    this.infoLine = element("p.dim");
    this.warningBox = element("div");
    this.verdictBox = element("div", { "aria-live": "polite" });
    this.setVerdict(this.verdict);
    const groups = [];
    const group = (solver, prefix) => {
      const plain = solver.parameters;
      if (!plain.length) return;
      groups.push(fold(prefix ? `Skin: ${solver.name}` : "Parameters", true, ...parameterControls(plain, this.project.settings, prefix, change)));
    };
    group(chosen, "");
    if (over) group(over, `${over.name}.`);
    const perBone = chosen.parameters.filter((parameter) => parameter.perBone);
    const joints = this.description?.joints ?? [];
    if (perBone.length && joints.length) {
      const name = joints[this.bone]?.name;
      groups.push(fold("One bone", this.bone >= 0,
        row("Bone", select("bone", [{ value: "-1", label: "click a bone, or choose" }, ...joints.map((joint, i) => ({ value: String(i), label: joint.name })).filter((_, i) => joints[i].deforms)], String(this.bone), (value) => this.chooseBone(Number(value)))),
        ...(name ? parameterControls(perBone, this.project.settings, `bones.${name}.`, change) : [])));
    }
    this.panels.solver.panel.replaceChildren(
      row("Solver", select("solver", bodies.map((one) => ({ value: one.name, label: one.name })), chosen.name, (value) => this.setSolver(value), { title: chosen.summary })),
      element("p.dim", {}, chosen.summary[0].toUpperCase() + chosen.summary.slice(1) + "."),
      ...(surfaces.length && !chosen.baseline ? [row("Skin over it", select("skin over it", [{ value: "", label: "none" }, ...surfaces.map((one) => ({ value: one.name, label: one.name }))], this.project.over, (value) => {
        this.project.over = value;
        this.solverPanel();
        this.build({ restart: true });
      }))] : []),
      ...(chosen.body ? [row("Detail", select("detail of the body", [{ value: String(DRAFT), label: "draft, 1,500 points" }, { value: "0", label: "normal, 4,000 points" }, { value: "10000", label: "fine, 10,000 points" }, { value: "-1", label: "the drawn mesh itself" }], String(this.project.detail), (value) => {
        this.project.detail = Number(value);
        this.build({ restart: true });
      }, { title: "points of the simulation body" }))] : []),
      this.infoLine, this.verdictBox, this.warningBox, ...groups,
      element("div.buttons", {},
        element("button", { type: "button", title: "settings as a .json that `cutis bake --config` takes", onclick: () => this.saveProject() }, "Save project"),
        element("button", { type: "button", onclick: () => this.input.click() }, "Open project")));
  }
  chooseBone(index) {
    this.bone = index;
    this.view.markJoint(index);
    this.solverPanel();
    this.hand.boneChosen();
  }

  // ---- project: what `cutis bake --config` takes ----

  saveProject() {
    this.download(new Blob([JSON.stringify(this.bakePanel.config(), null, 2) + "\n"], { type: "application/json" }), `${this.description?.name ?? "cutis"}.json`);
  }
  async openProject(text) {
    try {
      const { clip, given, unused, ...read } = readProject(text, this.tables);
      Object.assign(this.project, read, { solver: read.solver ?? this.project.solver });
      const known = this.description?.clips.some((one) => one.name === clip);
      if (known) this.project.clip = clip;
      else if (clip && this.description) unused.push(`clip '${clip}', which this character has not`);
      if (unused.length) this.say(`Of the project the page does not use: ${unused.join(", ")}.`, "warning");
      this.bakePanel.take(given);
      this.solverPanel();
      this.lookPanel();
      this.touchPanel();
      await this.build({ restart: true });
    } catch (error) {
      this.say(`The project cannot be read: ${error.message}`);
    }
  }
  download(blob, name) {
    const link = element("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // ---- looks ----

  lookPanel() {
    const solver = this.tables.solvers.find((one) => one.name === this.project.solver);
    const over = this.tables.solvers.find((one) => one.name === this.project.over);
    this.outputs = [...solver.outputs, ...(over?.outputs ?? [])];
    const fields = this.outputs.filter((output) => output.domain === "vertex" && !["tissue", "texcoords"].includes(output.role));
    const options = [{ value: "material", label: "materials" }, { value: "plain", label: "plain skin" }, { value: "stretch", label: "stretch" }, { value: "volume change", label: "volume change" }, { value: "displacement", label: "difference from skinning" },
      ...fields.map((output) => ({ value: output.name, label: output.name.replaceAll("_", " "), group: `of ${solver.name}` })), ...MAPS.map((map) => ({ value: `map:${map.name}`, label: `painted ${map.name}`, group: "painted" }))];
    const known = options.some((option) => option.value === this.view.coloring);
    if (!known) this.view.coloring = "material";
    this.colorSelect = select("colour", options, this.view.coloring, (value) => this.setColoring(value));
    const hasElements = this.outputs.some((output) => ["elements", "tissue"].includes(output.role));
    const cut = { on: Boolean(this.view.cut), axis: "x", at: 0.5 };
    const cutSlider = element("input", { type: "range", min: 0, max: 1, step: 0.005, value: 0.5, "aria-label": "place of the cut", oninput: () => {
      cut.at = Number(cutSlider.value);
      cutSlider.style.setProperty("--fill", `${100 * cut.at}%`);
      this.view.setCut(cut.on, cut.axis, cut.at);
    } });
    cutSlider.style.setProperty("--fill", "50%");
    this.wireToggle = toggle("Wireframe", this.view.wire, (on) => this.setWire(on), "edges of the mesh (W)");
    this.skeletonToggle = toggle("Skeleton", Boolean(this.view.showSkeleton), (on) => this.setSkeleton(on), "bones and joints (K)");
    this.panels.look.panel.replaceChildren(
      row("Colour", this.colorSelect),
      this.wireToggle, this.skeletonToggle,
      toggle("See through", Boolean(this.view.seeThrough), (on) => {
        this.view.seeThrough = on;
        this.view.applyLook();
      }, "the skin lets the inside show"),
      ...(hasElements ? [toggle("Inner layers", this.view.showElements ?? false, (on) => {
        this.view.showElements = on;
        this.view.seeThrough = on;
        this.view.applyLook();
        this.lookPanel();
        this.engine.ask("view", { elements: on });
      }, "particles, voxels or inner surfaces of the solver")] : []),
      fold("Cut", cut.on, toggle("Cut the character open", cut.on, (on) => {
        cut.on = on;
        this.view.setCut(cut.on, cut.axis, cut.at);
      }), row("Across", segmented("axis of the cut", ["x", "y", "z"].map((value) => ({ value, label: value })), "x", (axis) => {
        cut.axis = axis;
        this.view.setCut(cut.on, cut.axis, cut.at);
      })), cutSlider),
      element("div.buttons", {}, element("button", { type: "button", title: "(F)", onclick: () => this.view.frameCamera() }, "Frame the character"),
        element("button", { type: "button", onclick: () => this.picture() }, "Save picture")));
  }
  setColoring(value) {
    this.view.coloring = value;
    if (this.colorSelect.value !== value) this.colorSelect.value = value;
    this.view.applyLook();
    if (value.startsWith("map:") && this.description) this.view.setMap(this.painter.values(value.slice(4), this.description.vertexCount));
    return this.engine.ask("view", { color: value });
  }
  setWire(on) {
    this.view.wire = on;
    this.wireToggle.querySelector("input").checked = on;
    this.view.applyLook();
  }
  setSkeleton(on) {
    this.view.showSkeleton = on;
    this.skeletonToggle.querySelector("input").checked = on;
    this.view.applyLook();
  }
  setMode(mode) {
    this.view.mode = mode;
    this.modeControl.choose(mode);
    this.divider.hidden = mode !== "split";
    this.divider.style.left = `${100 * this.view.divider}%`;
    if (this.view.mesh) this.view.mesh.visible = true;
    this.view.applyLook();
    return this.engine.ask("view", { ghost: mode !== "one" });
  }
  dividerDrag() {
    const move = (event) => {
      const box = this.canvasHost.getBoundingClientRect();
      this.view.divider = Math.min(0.98, Math.max(0.02, (event.clientX - box.left) / box.width));
      this.divider.style.left = `${100 * this.view.divider}%`;
      this.view.dirty = true;
    };
    this.divider.addEventListener("pointerdown", (event) => {
      this.divider.setPointerCapture(event.pointerId);
      this.divider.addEventListener("pointermove", move);
    });
    this.divider.addEventListener("pointerup", () => this.divider.removeEventListener("pointermove", move));
    this.divider.addEventListener("keydown", (event) => {
      if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
      event.stopPropagation();
      this.view.divider = Math.min(0.98, Math.max(0.02, this.view.divider + (event.key === "ArrowLeft" ? -0.02 : 0.02)));
      this.divider.style.left = `${100 * this.view.divider}%`;
      this.view.dirty = true;
    });
  }
  picture() {
    this.view.picture((blob) => this.download(blob, `${this.description?.name ?? "cutis"}.png`));
  }

  // ---- props and paint ----

  touchPanel() {
    const list = element("div.list");
    this.project.props.forEach((prop, i) => list.append(element("div.item", { "aria-current": String(this.hand.prop === i) }, element("button", { type: "button", title: "move it with the gizmo", onclick: () => this.hand.moveProp(i) }, prop.name), element("span.grow"),
      element("span.dim", {}, prop.position?.map((x) => number(Math.abs(x) < 1e-3 * this.description.size ? 0 : x)).join(", ") ?? "where the clip reaches"),
      iconButton("close", `remove ${prop.name}`, () => {
        this.project.props.splice(i, 1);
        this.hand.moveProp(-1);
        this.touchPanel();
        this.build({ restart: true });
      }, { className: "icon small" }))));
    const { brush } = this.hand;
    const sliderRow = (label, key, min, max) => {
      const slider = element("input", { type: "range", min, max, step: (max - min) / 100, value: brush[key], "aria-label": label, oninput: () => {
        brush[key] = Number(slider.value);
        slider.style.setProperty("--fill", `${(100 * (brush[key] - min)) / (max - min)}%`);
      } });
      slider.style.setProperty("--fill", `${(100 * (brush[key] - min)) / (max - min)}%`);
      return row(label, element("span.grow", {}, slider));
    };
    this.panels.touch.panel.replaceChildren(
      element("p.dim", {}, "Things that the flesh touches. Solvers with contact feel them; drag the gizmo to place them."),
      list,
      element("div.buttons", {}, ...this.tables.props.map(({ name, summary }) => element("button", { type: "button", title: summary, onclick: () => this.addProp(name) }, `+ ${name}`))),
      fold("Paint", true,
        row("Value", select("what is painted", MAPS.map((map) => ({ value: map.name, label: map.name })), brush.map, (value) => {
          brush.map = value;
          this.hand.use("paint");
          this.touchPanel();
        })),
        element("p.dim", {}, MAPS.find((map) => map.name === brush.map).help + "."),
        sliderRow("Paint to", "target", 0, 1), sliderRow("Size", "radius", 0.01, 0.25), sliderRow("Strength", "strength", 0.05, 1),
        element("div.buttons", {},
          element("button", { type: "button", "aria-pressed": String(this.hand.tool === "paint"), onclick: () => this.hand.use("paint") }, "Brush"),
          element("button", { type: "button", title: "Ctrl Z", disabled: !this.painter.past.length, onclick: () => this.painter.undo() }, "Undo"),
          element("button", { type: "button", title: "Ctrl Y", disabled: !this.painter.future.length, onclick: () => this.painter.redo() }, "Redo"),
          element("button", { type: "button", title: "the file with what was painted, as .glb", disabled: !this.description, onclick: () => this.saveFile() }, "Save .glb"))));
  }
  async saveFile() {
    const file = await this.busy(() => this.engine.ask("source"));
    if (file) this.download(new Blob([file.bytes]), file.name.replace(/\.\w+$/, "") + "_painted.glb");
  }
  async addProp(name) {
    if (!this.description) return;
    const position = await this.busy(() => this.engine.ask("propPlace", { name, clip: this.project.clip }));
    if (!position) return;
    this.project.props.push({ name, position: tidy(position), scale: 1 });
    this.touchPanel();
    await this.build({ restart: true });
    this.hand.moveProp(this.project.props.length - 1);
  }
  painted() {
    const name = `map:${this.hand.brush.map}`;
    if (this.view.coloring !== name) this.setColoring(name);
    this.view.setMap(this.painter.values(this.hand.brush.map, this.description.vertexCount));
    this.touchPanel();
    return this.build();
  }

  // ---- time ----

  setPlaying(on) {
    if (on && !this.description) return;
    this.playing = on;
    this.timeline.setPlaying(on);
    this.measured = { at: performance.now(), frame: this.timeline.frame, drawn: this.view?.rendered ?? 0, simulated: 0 };
    this.slowBadge.textContent = "";
    this.timeline.rate.textContent = "";
    return this.engine.ask("play", { on });
  }
  seek(to) {
    if (!this.description) return null;
    if (this.playing) this.setPlaying(false);
    return this.engine.ask("seek", { to });
  }
  frame(message) {
    this.last = message;
    if (!this.preview) this.view.frame(message, this.outputs);
    this.timeline.update(message);
    this.hand.follow();
    this.rate(message);
    this.judging(message.judged);
    this.scale();
    requestAnimationFrame(() => this.engine.drawn([message.positions.buffer, message.normals.buffer]));
  }
  /** Simulated seconds a second, and frames drawn. */
  rate(message) {
    if (!this.playing || !this.measured) return;
    const passed = (message.frame - this.measured.frame + (message.frame < this.measured.frame ? this.timeline.frames + 1 : 0)) / 60;
    this.measured.simulated += passed;
    this.played = (this.played ?? 0) + passed;
    this.measured.frame = message.frame;
    const seconds = (performance.now() - this.measured.at) / 1000;
    if (seconds < 1) return;
    const factor = this.measured.simulated / seconds;
    const fps = (this.view.rendered - this.measured.drawn) / seconds;
    this.fps = fps;
    this.timeline.rate.textContent = `${factor.toFixed(2)}× real time · ${fps.toFixed(0)} fps`;
    const speed = Number(this.timeline.element.querySelector("select").value);
    this.slowBadge.textContent = factor < 0.9 * speed ? `slower than real time: ${factor.toFixed(2)}×${this.coarser()}` : "";
    this.measured = { at: performance.now(), frame: message.frame, drawn: this.view.rendered, simulated: 0 };
  }
  /** What would be faster. */
  coarser() {
    const solver = this.tables.solvers.find((one) => one.name === this.project.solver);
    return solver.body && this.project.detail !== DRAFT ? " · draft detail is faster" : "";
  }
  scale() {
    const on = !["material", "plain"].includes(this.view.coloring) && this.view.scale;
    this.scaleBox.hidden = !on;
    if (!on) return;
    const { low, high, unit } = this.view.scale;
    this.scaleBar.style.background = gradient(this.view.scale);
    const label = { displacement: "difference from skinning" }[this.view.coloring] ?? this.view.coloring.replace("map:", "painted ").replaceAll("_", " ");
    this.scaleEnds.replaceChildren(element("span", {}, number(low)), element("span.grow"), element("span", {}, number(high)));
    this.scaleName.textContent = `${label}${unit ? `, ${unit}` : ""}`;
  }

  keys() {
    addEventListener("keydown", (event) => {
      const typing = /^(input|select|textarea)$/i.test(event.target.tagName) && event.target.type !== "range" && event.target.type !== "checkbox";
      if (typing || this.help.open) return;
      const key = event.key.toLowerCase();
      if ((event.ctrlKey || event.metaKey) && (key === "z" || key === "y")) {
        event.preventDefault();
        if (key === "y" || event.shiftKey) this.painter.redo();
        else this.painter.undo();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const actions = { " ": () => this.setPlaying(!this.playing), arrowleft: () => this.seek(this.timeline.frame - 1), arrowright: () => this.seek(this.timeline.frame + 1), home: () => this.seek(0),
        1: () => this.setMode("one"), 2: () => this.setMode("ghost"), 3: () => this.setMode("split"), q: () => this.hand.use("orbit"), g: () => this.hand.use("grab"), b: () => this.hand.use("blow"),
        p: () => this.hand.use("paint"), j: () => this.hand.use("joint"), f: () => this.description && this.view.frameCamera(), w: () => this.setWire(!this.view.wire), k: () => this.setSkeleton(!this.view.showSkeleton),
        o: () => this.input.click(), t: () => this.toggleTheme(), l: () => this.timeline.loopButton.click(), "?": () => this.help.showModal(),
        "[": () => this.hand.resize(0.8), "]": () => this.hand.resize(1.25) };
      const pressed = key === " " && (/^(button|summary)$/i.test(event.target.tagName) || event.target.type === "checkbox");
      const slid = event.target.type === "range" && /^(arrow|home)/.test(key);
      if (actions[key] && !pressed && !slid) {
        event.preventDefault();
        actions[key]();
      }
    });
  }
}

/** The clip to begin with: one that shows the character at its usual, not the first by the alphabet ("Death"). */
function firstClip(clips) {
  const usual = [/walk/i, /idle|stand/i, /run|trot|gallop|jog/i].map((name) => clips.find((clip) => name.test(clip.name)));
  return (usual.find(Boolean) ?? clips[0])?.name ?? null;
}

window.app = new App(document.getElementById("app"));
