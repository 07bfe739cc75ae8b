/*
 * bake_panel.js: bake with all options of the command, progress, cancel, verdict, figures and download.
 */
import { bake } from "cutis";

import { element, fold, row, segmented, select, toggle } from "./dom.js";
import { number } from "./parameters.js";
import { verdictNotes } from "./verdict.js";

const FORMATS = [[".glb", "glTF, plays in any engine"], [".npy", "NumPy array"], [".pc2", "point cache"], [".mdd", "point cache"], [".usda", "USD"], [".vat", "vertex-animation texture"]];
const STAGES = { load: "loading", build: "building the body", lead_in: "lead-in", loop: "closing the loop", frames: "frames", measure: "measuring", write: "writing" };

export class BakePanel {
  constructor(app, panel) {
    this.app = app;
    this.panel = panel;
    this.options = { format: ".glb", fps: 30, loop: false, measure: true, exact: false, positionsOnly: false, tolerance: 0.001, targets: 32, start: "", end: "", leadIn: "" };
    this.result = element("div", { "aria-live": "polite" });
    this.show();
  }
  clear() {
    this.abort?.abort();
    this.result.replaceChildren();
    this.show();
  }
  numberField(label, key, title, placeholder = "") {
    const input = element("input.number", { type: "number", step: "any", value: this.options[key], placeholder, title, "aria-label": label, onchange: () => (this.options[key] = input.value === "" ? "" : Number(input.value)) });
    return row(label, input);
  }
  show() {
    const { options } = this;
    this.button = element("button.primary", { type: "button", disabled: !this.app.description, onclick: () => this.run() }, "Bake");
    this.cancel = element("button", { type: "button", hidden: true, onclick: () => this.abort?.abort() }, "Cancel");
    this.progress = element("progress", { max: 1, value: 0, hidden: true, "aria-label": "progress of the bake" });
    this.stage = element("span.dim");
    this.panel.replaceChildren(
      row("Format", select("format", FORMATS.map(([value, label]) => ({ value, label: `${value}: ${label}` })), options.format, (value) => (options.format = value))),
      row("Frames", segmented("frames a second", [24, 30, 60].map((value) => ({ value, label: `${value}` })), options.fps, (value) => (options.fps = value)), element("span.dim", {}, "a second")),
      toggle("Close the loop", options.loop, (on) => (options.loop = on), "one period of the periodic motion, whose end is its start"),
      fold("More", false,
        this.numberField("From", "start", "seconds of the clip; empty: its first key", "first"), this.numberField("To", "end", "seconds of the clip; empty: its last key", "last"),
        this.numberField("Lead-in", "leadIn", "seconds from rest to the first pose; empty: by the damping", "auto"),
        this.numberField("Tolerance", "tolerance", ".glb: largest distance of a vertex, of the size"), this.numberField("Targets", "targets", ".glb: morph targets at most, 1 to 32"),
        toggle("One target a frame", options.exact, (on) => (options.exact = on), ".glb: exact, and large"), toggle("No normals in targets", options.positionsOnly, (on) => (options.positionsOnly = on)),
        toggle("Measure quality", options.measure, (on) => (options.measure = on))),
      element("div.buttons", {}, this.button, this.cancel, element("button", { type: "button", title: "a .json for `cutis bake --config`", onclick: () => this.app.saveProject() }, "Save settings")),
      this.progress, this.stage, this.result);
  }

  /** What `cutis bake --config` takes. */
  config() {
    const { app, options } = this;
    const made = { solver: app.solverName(), fps: options.fps, set: app.project.settings };
    if (app.project.clip) made.clip = app.project.clip;
    if (app.project.detail) made.detail = app.project.detail < 0 ? "drawn" : app.project.detail;
    if (options.loop) made.loop = true;
    for (const [key, name] of [["start", "start"], ["end", "end"], ["leadIn", "lead_in"]]) if (options[key] !== "") made[name] = options[key];
    if (app.project.props.length) made.prop = app.project.props.map(({ name, position, scale }) => `${name}${position ? `@${[...position, ...(scale !== 1 ? [scale] : [])].join(",")}` : ""}`);
    if (!Object.keys(made.set).length) delete made.set;
    return made;
  }
  take(given) {
    const { options } = this;
    for (const [key, name] of [["fps", "fps"], ["loop", "loop"], ["start", "start"], ["end", "end"], ["leadIn", "lead_in"]]) if (given[name] !== undefined) options[key] = given[name];
    this.show();
  }

  async run() {
    const { app, options } = this;
    app.setPlaying(false);
    this.abort = new AbortController();
    this.button.disabled = true;
    this.cancel.hidden = false;
    this.progress.hidden = false;
    this.progress.removeAttribute("value");
    this.result.replaceChildren();
    const notes = [];
    try {
      const file = await app.engine.ask("source");
      const optional = Object.fromEntries(["start", "end", "leadIn"].filter((key) => options[key] !== "").map((key) => [key, options[key]]));
      const made = await bake(file.bytes, { name: file.name, solver: app.solverName(), settings: app.project.settings, detail: app.project.detail, clip: app.project.clip,
        props: app.project.props.map(({ name, position, scale }) => ({ name, position, scale })), fps: options.fps, loop: options.loop, format: options.format, tolerance: options.tolerance,
        targets: options.targets, exact: options.exact, positionsOnly: options.positionsOnly, measure: options.measure, ...optional,
        threads: globalThis.crossOriginIsolated ? Math.min(4, navigator.hardwareConcurrency || 1) : 1, signal: this.abort.signal,
        progress: (stage, done, total) => {
          this.stage.textContent = `${STAGES[stage]}${total > 1 ? ` ${done} of ${total}` : ""}`;
          if (stage === "frames" && total) this.progress.value = done / total;
          else this.progress.removeAttribute("value");
        },
        message: (kind, text) => notes.push([kind, text]) });
      this.show();
      this.done(made, notes);
    } catch (error) {
      this.show();
      if (this.abort.signal.aborted) this.result.replaceChildren(element("div.note", {}, "The bake was cancelled."));
      else this.result.replaceChildren(element("div.note.error", {}, error.message));
    }
    this.abort = null;
  }
  done(made, notes) {
    const { app } = this;
    this.last = made;
    const base = (app.description.name || "bake").replace(/\W+/g, "_");
    const rows = [["frames", `${made.frameCount} at ${made.fps} a second`], ["time", `${number(made.totalSeconds)} s`], ["volume", `${number(100 * made.volumeMin)} % to ${number(100 * made.volumeMax)} %`]];
    if (made.morphs) rows.push(["morph targets", `${made.morphs.targetCount}, off by ${number(100 * made.morphs.maxError)} % of the size`]);
    if (made.loop) rows.push(["loop", made.loop.closed ? "closed" : `open by ${number(100 * made.loop.positionSeam)} % of the size`]);
    if (made.quality) rows.push(["crossing triangles", `${made.quality.selfIntersectionsMax} (rest ${made.quality.selfIntersectionsRest})`], ["stretch, 99 %", number(made.quality.stretchP99)], ["least section", number(made.quality.minSectionRatio)], ["penetration", number(made.quality.penetrationMax)]);
    rows.push(["hash", made.hash]);
    this.result.replaceChildren(
      ...(made.verdict ? verdictNotes(made.verdict, (frame) => app.seek(Math.round((frame * 60) / made.fps))) : []),
      ...notes.filter(([kind]) => kind === "note").map(([, text]) => element("div.note", {}, text)),
      ...made.warnings.slice(0, 4).map((text) => element("div.note.warning", {}, text)),
      element("table.figures", {}, element("tbody", {}, ...rows.map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value))))),
      element("div.buttons", {}, ...made.files.map((file) => element("button.primary", { type: "button", onclick: () => app.download(new Blob([file.bytes]), file.name.replace(/^bake/, `${base}_flesh`)) }, `Download ${file.name.replace(/^bake/, "")}, ${number(file.bytes.length / 1e6)} MB`)),
        element("button", { type: "button", onclick: () => app.download(new Blob([JSON.stringify(made.report, null, 2)]), `${base}_report.json`) }, "Report")));
  }
}
