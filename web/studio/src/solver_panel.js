/*
 * solver_panel.js: the flesh: plain sliders first, then everything of the solver's table under "Expert".
 */
import { DRAFT } from "./app.js";
import { element, fold, plainSlider, row, select } from "./dom.js";
import { parameterControls, seconds } from "./parameters.js";
import { MAX_FACTOR, SLIDERS, quickParameters } from "./quick.js";
import { verdictNotes } from "./verdict.js";

const DETAILS = [{ value: DRAFT, label: "draft" }, { value: 0, label: "normal" }, { value: 10000, label: "fine" }];
const POINTS = [{ value: String(DRAFT), label: "draft, 1,500 points" }, { value: "0", label: "normal, 4,000 points" },
  { value: "10000", label: "fine, 10,000 points" }, { value: "-1", label: "the drawn mesh itself" }];
const VOXELS = [24, 32, 48]; // along the longest side: the detail of a solver without a body of points

export class SolverPanel {
  constructor(app, panel) {
    this.app = app;
    this.panel = panel;
    this.expert = false;
    this.infoLine = element("p.dim");
    this.warningBox = element("div");
    this.verdictBox = element("div", { "aria-live": "polite" });
  }
  show() {
    const { app } = this;
    const solver = app.solver;
    const over = app.tables.solvers.find((one) => one.name === app.project.over);
    this.panel.replaceChildren(...this.plain(solver), this.infoLine, this.verdictBox, this.warningBox,
      ...this.oneBone(solver), this.makeExpert(solver, over),
      element("div.buttons", {},
        element("button", { type: "button", title: "settings as a .json that `cutis bake --config` takes",
          onclick: () => app.saveProject() }, "Save project"),
        element("button", { type: "button", onclick: () => app.input.click() }, "Open project")));
  }

  // ---- the plain sliders ----

  plain(solver) {
    const { app } = this;
    const fitting = SLIDERS.filter(({ name }) => quickParameters(solver, name).length);
    const factor = (t) => MAX_FACTOR ** t;
    const made = fitting.map(({ name, label, low, high, help }) => plainSlider({ label, low, high, help,
      min: -1, max: 1, step: 0.05, middle: 0, value: Math.log(app.quick[name]) / Math.log(MAX_FACTOR),
      change: (t) => app.setQuick(name, t === 0 ? 1 : factor(t)) }));
    if (!solver.baseline) made.push(this.detail(solver), this.amount());
    return made.length ? [element("div.quick", {}, ...made)] : [];
  }
  detail(solver) {
    const { app } = this;
    const voxels = !solver.body && solver.parameters.some(({ name }) => name === "resolution");
    const values = voxels ? VOXELS : DETAILS.map(({ value }) => value);
    const at = voxels ? (app.project.settings.resolution ?? 32) : app.project.detail;
    const nearest = voxels ? values.findIndex((one) => one >= at) : values.indexOf(at);
    return plainSlider({ label: "Detail", low: "fast", high: "fine", help: "fineness of the simulation; fine is slower",
      min: 0, max: 2, step: 1, middle: null, value: nearest < 0 ? 2 : nearest,
      change: (t) => (voxels ? app.setSetting("resolution", values[t]) : app.setDetail(values[t])) });
  }
  amount() {
    const { compare } = this.app;
    return plainSlider({ label: "Amount", low: "skinning", high: "twice", min: 0, max: 2, step: 0.05, middle: 1,
      help: "how much of what the flesh adds is shown; a bake has it once", value: compare.amount ?? 1, live: true,
      change: (t) => compare.setAmount(t) });
  }

  // ---- the tables ----

  makeExpert(solver, over) {
    const { app } = this;
    const { project, tables } = app;
    const bodies = tables.solvers.filter((one) => !one.surface).map(({ name }) => ({ value: name, label: name }));
    const surfaces = tables.solvers.filter((one) => one.surface).map(({ name }) => ({ value: name, label: name }));
    const change = (key, value) => app.setSetting(key, value);
    const rows = [row("Solver", select("solver", bodies, solver.name, (value) => app.setSolver(value),
      { title: solver.summary })),
    element("p.dim", {}, solver.summary[0].toUpperCase() + solver.summary.slice(1) + ".")];
    if (surfaces.length && !solver.baseline) {
      rows.push(row("Skin over it", select("skin over it", [{ value: "", label: "none" }, ...surfaces], project.over, (value) => {
        project.over = value;
        this.show();
        app.build({ restart: true });
      })));
    }
    if (solver.body) {
      rows.push(row("Detail", select("detail of the body", POINTS, String(project.detail),
        (value) => app.setDetail(Number(value)), { title: "points of the simulation body" })));
    }
    const groups = [[solver, ""], ...(over ? [[over, `${over.name}.`]] : [])].filter(([one]) => one.parameters.length)
      .map(([one, prefix]) => fold(prefix ? `Skin: ${one.name}` : "Parameters", true,
        ...parameterControls(one.parameters, project.settings, prefix, change)));
    const joints = app.description?.joints ?? [];
    if (joints.length && solver.parameters.some((one) => one.perBone)) {
      const bones = joints.map((joint, i) => ({ value: String(i), label: joint.name })).filter((_, i) => joints[i].deforms);
      rows.push(row("Bone", select("bone", [{ value: "-1", label: "click a bone, or choose" }, ...bones],
        String(app.bone), (value) => app.chooseBone(Number(value)))));
    }
    const made = fold("Expert", this.expert, ...rows, ...groups);
    made.classList.add("expert");
    made.addEventListener("toggle", () => (this.expert = made.open));
    return made;
  }
  /** Parameters of the chosen bone. */
  oneBone(solver) {
    const { app } = this;
    const name = app.description?.joints[app.bone]?.name;
    const parameters = solver.parameters.filter((one) => one.perBone);
    if (!name || !parameters.length) return [];
    return [fold(`One bone: ${name}`, true, ...parameterControls(parameters, app.project.settings, `bones.${name}.`,
      (key, value) => app.setSetting(key, value)))];
  }

  // ---- what was built ----

  built({ info, seconds: passed }) {
    const { solver } = this.app;
    const points = info.bodyPoints ? `, ${info.bodyPoints.toLocaleString("en")} points of flesh` : "";
    this.infoLine.replaceChildren(`${this.app.solverName()}: ${info.elementCount.toLocaleString("en")} ${solver.element}`
      + `${points}; built in ${seconds(passed)}`);
    this.warningBox.replaceChildren(...info.warnings.map((text) => element("div.note.warning", {}, text)),
      ...info.notes.map((text) => element("div.note", {}, text)));
  }
  verdict(message) {
    const show = (frame) => this.app.seek(message.frames * frame);
    this.verdictBox.replaceChildren(...(message ? verdictNotes(message.verdict, show, 3) : []));
  }
  /** How far the clip has been judged. */
  judging(share) {
    if (share === null || this.app.verdict) return;
    const text = `Judging the clip against plain skinning: ${Math.floor(100 * share)} %`;
    if (this.verdictBox.textContent !== text) this.verdictBox.replaceChildren(element("p.dim", {}, text));
  }
}

