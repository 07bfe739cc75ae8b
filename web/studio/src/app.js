/*
 * app.js: what is open, what is chosen, what plays. All simulation is in workers (engine.js, simulation.js), all drawing in
 * view.js; the panels are made from the library's tables.
 *
 * A character plays at once under plain skinning, a moment later with the flesh of FIRST_SOLVER, and with that of FINE_SOLVER
 * when a second worker has built it and this machine plays it in real time.
 */
import { BakePanel } from "./bake_panel.js";
import { Compare } from "./compare.js";
import { fillSelect } from "./dom.js";
import { Cancelled, Engine } from "./engine.js";
import { Files } from "./files.js";
import { Film } from "./film.js";
import { Guide } from "./guide.js";
import { Hand } from "./hand.js";
import { installKeys } from "./keys.js";
import { makeLayout } from "./layout.js";
import { LookPanel } from "./look_panel.js";
import { Painter } from "./paint.js";
import { number } from "./parameters.js";
import { Preview } from "./preview.js";
import { quickSettings } from "./quick.js";
import { RigPanel } from "./rig_panel.js";
import { SolverPanel } from "./solver_panel.js";
import { TouchPanel } from "./touch_panel.js";
import { LEVELS } from "./verdict.js";
import { View } from "./view.js";

export const DRAFT = 1500; // points of the body that a page starts with: quick to build, near real time
const RATE = 60;
const QUICK = { softness: 1, fat: 1, jiggle: 1 };

export class App {
  constructor(host) {
    this.engine = new Engine();
    this.project = { solver: null, over: "", settings: {}, detail: DRAFT, clip: null, props: [] };
    this.draft = DRAFT;
    this.quick = { ...QUICK };
    this.plan = { first: "lattice", fine: "tissue" }; // solvers that an opened character plays with
    this.budget = 0.8 / RATE; // seconds that a frame of the finer solver may take: the rest is drawn in
    this.offer = null; // a finer model that is built and does not play
    this.description = null;
    this.playing = false;
    this.bone = -1;
    makeLayout(this, host);
    this.view = new View(this.canvasHost);
    this.view.theme(document.documentElement.dataset.theme);
    this.painter = new Painter(() => this.painted());
    this.hand = new Hand(this);
    this.compare = new Compare(this);
    this.files = new Files(this);
    this.film = new Film(this);
    this.engine.onframe = (message) => this.frame(message);
    this.engine.onended = () => this.setPlaying(false);
    this.engine.onstage = ({ text, share }) => (this.refining ? this.preparing(text, share) : this.working(text, share));
    this.engine.onverdict = (message) => this.setVerdict(message);
    this.engine.onerror = (text) => this.say(`The simulation stopped: ${text}. Reload the page.`);
    this.engine.onswap = ({ playing }) => playing && this.view.blend();
    installKeys(this);
    this.ready = this.start();
  }

  // ---- messages ----

  say(text, kind = "error") {
    this.toast(text, kind);
  }
  /** What goes on, in the middle of the view; share: of the work that is done, null: not known. */
  working(text, share = null) {
    const line = text && `${text}${share === null ? "" : `, ${Math.floor(100 * share)} %`}`;
    this.stageText.textContent = line;
    this.cancelButton.hidden = !line || !this.engine.builder;
    this.stage.hidden = !line;
  }
  async busy(work, text = "") {
    this.busyBar.hidden = false;
    this.working(text);
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Cancelled)) this.say(error.message);
      return null;
    } finally {
      this.busyBar.hidden = true;
      this.working("");
    }
  }
  showPanel(name) {
    for (const [own, { panel, tab }] of Object.entries(this.panels)) {
      panel.hidden = own !== name;
      tab.setAttribute("aria-selected", String(own === name));
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
    // one core draws
    const threads = globalThis.crossOriginIsolated
      ? Math.max(1, Math.min(4, (navigator.hardwareConcurrency || 2) - 1)) : 1;
    this.tables = await this.busy(() => this.engine.ask("start", { threads }));
    if (!this.tables) return;
    this.project.solver = this.solverFor("first").name;
    this.solverView = new SolverPanel(this, this.panels.solver.panel);
    this.lookView = new LookPanel(this, this.panels.look.panel);
    this.touchView = new TouchPanel(this, this.panels.touch.panel);
    this.rigPanel = new RigPanel(this, this.panels.rig.panel);
    this.bakePanel = new BakePanel(this, this.panels.bake.panel);
    this.guide = new Guide(this);
    this.showPanels();
    await this.guide.begin();
  }
  showPanels() {
    this.solverPanel();
    this.lookPanel();
    this.touchPanel();
  }
  solverPanel() {
    this.solverView.show();
  }
  lookPanel() {
    this.lookView.show();
  }
  touchPanel() {
    this.touchView.show();
  }
  /** The solver of a name, or the one that bakes by default; null: the name is null. */
  solverNamed(name) {
    const { solvers } = this.tables;
    return name && (solvers.find((one) => one.name === name) ?? solvers.find((one) => one.preferred));
  }
  solverFor(step) {
    return this.solverNamed(this.plan[step]);
  }
  get solver() {
    return this.tables.solvers.find((one) => one.name === this.project.solver);
  }
  get baseline() {
    return this.tables.solvers.find((one) => one.baseline);
  }
  openUrl(url) {
    return this.files.openUrl(url);
  }
  openFiles(list) {
    return this.files.openFiles(list);
  }
  openProject(text) {
    return this.files.openProject(text);
  }

  async open(given, { welcome = false } = {}) {
    this.setPlaying(false);
    await this.withdraw();
    const name = given.name ?? given.zoo;
    const description = await this.busy(
      () => this.engine.ask("open", given, given.bytes ? [given.bytes] : []), `opening ${name}`);
    if (!description) return false;
    this.opened = given.zoo ? { zoo: given.zoo } : given.url ? { url: given.url } : {};
    this.fileLabel.textContent = given.zoo ? `${given.zoo} (built in)` : name;
    this.rigPanel.forget();
    this.quick = { ...QUICK };
    this.project = { ...this.project, settings: {}, props: [], over: "", solver: this.solverFor("first").name };
    await this.take(description, { welcome });
    return true;
  }
  /** Another character stands in the page; clip: the one to play, instead of the first. */
  async take(description, { clip = null, welcome = false } = {}) {
    this.description = description;
    this.welcome.hidden = !welcome;
    this.guide.waiting = welcome;
    this.view.setLift(welcome ? 0.13 : 0);
    this.bone = -1;
    this.standing = null; // of the project: what the model that plays was built of
    this.painter.clear();
    this.hand.release();
    this.project.props = [];
    this.project.clip = clip ?? firstClip(description.clips);
    if (!description.skinned) this.project.solver = this.baseline.name;
    this.showClips();
    this.toolBar.hidden = false;
    this.setVerdict(null);
    await this.view.show(description);
    const preview = await this.startPreview(description);
    for (const text of description.warnings.slice(0, 2)) this.say(text, "warning");
    this.showPanels();
    this.rigPanel.show();
    this.bakePanel.clear();
    let built = await this.build({ restart: true });
    if (this.preview !== preview) return; // another character was opened meanwhile
    if (!built) {
      // cancelled: plain skinning plays on
      this.project.solver = this.baseline.name;
      this.showPanels();
      built = await this.build({ restart: true });
    }
    this.preview = null;
    preview.stop();
    if (!description.skinned) {
      this.showPanel("rig");
    } else if (built && description.clips.length) {
      await this.engine.ask("join", { to: preview.at });
      this.setPlaying(true);
      this.refined = this.refine();
    }
  }
  showClips() {
    const { clips } = this.description;
    const options = clips.map((one) => ({ value: one.name, label: `${one.name} · ${number(one.end - one.start)} s` }));
    fillSelect(this.clipSelect, clips.length ? options : [{ value: "", label: "no clip" }], this.project.clip ?? "");
    this.clipSelect.disabled = clips.length < 2;
    this.clipSelect.hidden = false;
    this.guide.showMotions();
  }
  /** Plain skinning moves until the flesh is built. */
  async startPreview(description) {
    this.preview?.stop();
    const poses = await this.engine.ask("poses", { clip: this.project.clip });
    this.preview = new Preview(description, poses, (frame) => this.view.frame(frame, []));
    this.showDetail("plain skinning");
    this.preview.start();
    return this.preview;
  }

  // ---- the model ----

  solverName() {
    return this.project.over ? `${this.project.solver}+${this.project.over}` : this.project.solver;
  }
  /** What a build is made of. */
  request(more = {}) {
    const { settings, detail, clip, props } = this.project;
    return { solver: this.solverName(), settings, detail, clip, maps: this.painter.given(),
      props: props.map(({ name, position, scale }) => ({ name, position, scale })), ...more };
  }
  /** Builds follow each other; while one runs, the newest request waits. What plays goes on until the build is done. */
  async build(more = {}) {
    if (!this.description) return false;
    await this.withdraw();
    this.wanted = { ...this.wanted, ...more };
    if (this.building) return this.building;
    this.building = (async () => {
      let ok = true;
      while (this.wanted) {
        const extra = this.wanted;
        this.wanted = null;
        const made = await this.busy(() => this.engine.ask("build", this.request(extra)));
        ok = Boolean(made);
        if (made) this.built(made, extra);
      }
      if (!ok) this.restore();
      return ok;
    })();
    const result = await this.building;
    this.building = null;
    return result;
  }
  built(made, { restart } = {}) {
    this.info = made.info;
    const { solver, over, settings, detail } = this.project;
    this.standing = { solver, over, settings: { ...settings }, detail };
    this.setVerdict(null);
    this.view.setProps(made.props);
    if (restart || made.frames !== this.timeline.frames) this.timeline.reset(made.frames);
    this.solverView.built(made);
    this.showDetail();
    this.lookView.send();
  }
  /** A build failed or was cancelled: the project is again what plays. */
  restore() {
    if (!this.standing) return;
    Object.assign(this.project, this.standing, { settings: { ...this.standing.settings } });
    this.showPanels();
  }
  /** The solver that plays, and its detail. */
  showDetail(text = null) {
    const points = this.solver.body && this.info?.bodyPoints;
    const count = points || this.info?.elementCount || 0;
    const unit = points ? "points" : this.solver.element;
    this.detailBadge.textContent = text ?? (this.solver.baseline ? "plain skinning"
      : `${this.solverName()} · ${count.toLocaleString("en")} ${unit}`);
  }
  /** End a build that takes too long. */
  async cancel() {
    this.wanted = null;
    const ended = await this.engine.cancel();
    if (ended) this.working("");
    return ended;
  }

  // ---- the finer solver, built while the first one plays ----

  async refine() {
    const fine = this.solverFor("fine");
    if (!fine || this.project.solver !== this.plan.first || this.project.over) return false;
    const token = (this.refining = {});
    const settings = quickSettings(fine, this.quick);
    const request = this.request({ solver: fine.name, settings });
    this.preparing("building", null);
    try {
      const made = await this.engine.ask("build", { ...request, hold: true });
      if (this.refining !== token) return false;
      this.offer = { made, request, factor: 1 / RATE / made.frameSeconds };
      if (made.frameSeconds <= this.budget) return this.accept();
      this.showOffer();
      return false;
    } catch (error) {
      if (!(error instanceof Cancelled) && this.refining === token) this.say(error.message, "warning");
      return false;
    } finally {
      if (this.refining === token) this.refining = null;
      if (!this.refining) this.preparing("");
    }
  }
  /** How far the build in the background is. */
  preparing(text, share) {
    const done = share === null ? "" : `, ${Math.floor(100 * share)} %`;
    this.refineText.textContent = text && `${this.plan.fine} in the background: ${text}${done}`;
    this.refineBadge.hidden = !text;
  }
  /** The finer solver is built, and too slow to play by itself. */
  showOffer() {
    const { request, factor } = this.offer;
    this.offerButton.hidden = false;
    this.offerButton.textContent = `Play ${request.solver}, ${number(factor)}× real time`;
  }
  /** Play the finer model from the frame that is shown. */
  async accept() {
    const { made, request } = this.offer;
    this.offer = null;
    this.offerButton.hidden = true;
    Object.assign(this.project, { solver: request.solver, settings: request.settings });
    await this.engine.take({});
    this.solverPanel();
    this.lookPanel();
    this.built(made);
    return true;
  }
  /** Something else is wanted: the finer model is given up, built or not. */
  async withdraw() {
    const pending = this.refining || this.offer;
    this.refining = null;
    this.offer = null;
    this.offerButton.hidden = true;
    this.preparing("");
    if (pending) await this.engine.discard();
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
    this.solverView?.verdict(message);
  }
  setSetting(key, value) {
    if (value === undefined) delete this.project.settings[key];
    else this.project.settings[key] = value;
    return this.build();
  }
  /** One of the plain sliders: softness, fat, jiggle; a factor. */
  setQuick(name, value) {
    this.quick[name] = value;
    const own = quickSettings(this.solver, this.quick);
    const keys = Object.keys(quickSettings(this.solver, { softness: 2, fat: 2, jiggle: 2 }));
    for (const key of keys) delete this.project.settings[key];
    Object.assign(this.project.settings, own);
    return this.build();
  }
  setSolver(solver) {
    this.project.solver = solver;
    this.project.over = "";
    this.project.settings = quickSettings(this.solver, this.quick);
    this.solverPanel();
    this.lookPanel();
    return this.build({ restart: true });
  }
  setDetail(points) {
    this.project.detail = points;
    this.solverPanel();
    return this.build({ restart: true });
  }
  async setClip(clip) {
    this.project.clip = clip || null;
    this.clipSelect.value = clip;
    const finer = this.refining || this.offer;
    const ok = await this.build({ restart: true });
    if (finer) this.refined = this.refine();
    return ok;
  }
  chooseBone(index) {
    this.bone = index;
    this.view.markJoint(index);
    this.solverPanel();
    this.hand.boneChosen();
  }
  setColoring(value) {
    return this.lookView.setColoring(value);
  }
  setWire(on) {
    this.lookView.setWire(on);
  }
  setSkeleton(on) {
    this.lookView.setSkeleton(on);
  }
  setMode(mode) {
    return this.compare.setMode(mode);
  }
  saveProject() {
    this.files.saveProject();
  }
  download(blob, name) {
    this.files.download(blob, name);
  }
  painted() {
    return this.touchView.painted();
  }

  // ---- time ----

  setPlaying(on) {
    if (on && !this.description) return null;
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
    if (!this.preview) this.view.frame(message, this.lookView.outputs);
    this.timeline.update(message);
    this.hand.follow();
    this.rate(message);
    this.solverView.judging(message.judged);
    this.lookView.scale();
    requestAnimationFrame(() => this.engine.drawn([message.positions.buffer, message.normals.buffer]));
  }
  /** Simulated seconds per second, and frames drawn. */
  rate(message) {
    if (!this.playing || !this.measured) return;
    const back = message.frame < this.measured.frame ? this.timeline.frames + 1 : 0;
    const passed = (message.frame - this.measured.frame + back) / RATE;
    this.measured.simulated += passed;
    this.played = (this.played ?? 0) + passed;
    this.measured.frame = message.frame;
    const seconds = (performance.now() - this.measured.at) / 1000;
    if (seconds < 1) return;
    const factor = this.measured.simulated / seconds;
    this.fps = (this.view.rendered - this.measured.drawn) / seconds;
    this.timeline.rate.textContent = `${factor.toFixed(2)}× real time · ${this.fps.toFixed(0)} fps`;
    const speed = Number(this.timeline.element.querySelector("select").value);
    const faster = this.solver.body && this.project.detail !== DRAFT ? " · less detail is faster" : "";
    this.slowBadge.textContent = factor < 0.9 * speed ? `slower than real time: ${factor.toFixed(2)}×${faster}` : "";
    this.measured = { at: performance.now(), frame: message.frame, drawn: this.view.rendered, simulated: 0 };
  }
}

/** The clip to begin with: one that shows the character at its usual, not the first by the alphabet ("Death"). */
function firstClip(clips) {
  const usual = [/walk/i, /idle|stand/i, /run|trot|gallop|jog/i];
  return (usual.map((name) => clips.find((clip) => name.test(clip.name))).find(Boolean) ?? clips[0])?.name ?? null;
}
