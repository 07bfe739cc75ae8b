/*
 * look_panel.js: colours, wireframe, skeleton, inner layers, cut, pictures.
 */
import { gradient } from "./colors.js";
import { element, fold, row, segmented, select, setFill, toggle } from "./dom.js";
import { MAPS } from "./paint.js";
import { number } from "./parameters.js";

const PLAIN = [{ value: "material", label: "materials" }, { value: "plain", label: "plain skin" },
  { value: "stretch", label: "stretch" }, { value: "volume change", label: "volume change" },
  { value: "displacement", label: "difference from skinning" }];

export class LookPanel {
  constructor(app, panel) {
    this.app = app;
    this.panel = panel;
    this.outputs = [];
    this.cut = { on: false, axis: "x", at: 0.5 };
  }
  show() {
    const { app } = this;
    const { view, solver } = app;
    const over = app.tables.solvers.find((one) => one.name === app.project.over);
    this.outputs = [...solver.outputs, ...(over?.outputs ?? [])];
    const fields = this.outputs.filter(({ domain, role }) => domain === "vertex" && !["tissue", "texcoords"].includes(role));
    const options = [...PLAIN,
      ...fields.map(({ name }) => ({ value: name, label: name.replaceAll("_", " "), group: `of ${solver.name}` })),
      ...MAPS.map(({ name }) => ({ value: `map:${name}`, label: `painted ${name}`, group: "painted" }))];
    if (!options.some((option) => option.value === view.coloring)) view.coloring = "material";
    this.colorSelect = select("colour", options, view.coloring, (value) => this.setColoring(value));
    this.wireToggle = toggle("Wireframe", view.wire, (on) => this.setWire(on), "edges of the mesh (W)");
    this.skeletonToggle = toggle("Skeleton", Boolean(view.showSkeleton), (on) => this.setSkeleton(on), "bones and joints (K)");
    this.panel.replaceChildren(row("Colour", this.colorSelect), this.wireToggle, this.skeletonToggle,
      toggle("See through", Boolean(view.seeThrough), (on) => {
        view.seeThrough = on;
        view.applyLook();
      }, "the skin lets the inside show"),
      ...this.inner(), this.cutFold(),
      element("div.buttons", {},
        element("button", { type: "button", title: "(F)", onclick: () => view.frameCamera() }, "Frame the character"),
        element("button", { type: "button", onclick: () => this.picture() }, "Save picture"),
        element("button", { type: "button", onclick: () => app.film.save() }, "Save film"),
        element("button", { type: "button", title: "once around the character, in the frame that is shown",
          onclick: () => app.film.save({ turntable: true }) }, "Save turntable")));
  }
  inner() {
    const { app } = this;
    if (!this.outputs.some(({ role }) => ["elements", "tissue"].includes(role))) return [];
    return [toggle("Inner layers", app.view.showElements ?? false, (on) => {
      app.view.showElements = on;
      app.view.seeThrough = on;
      app.view.applyLook();
      this.show();
      app.engine.ask("view", { elements: on });
    }, "particles, voxels or inner surfaces of the solver")];
  }
  cutFold() {
    const { cut } = this;
    const apply = () => this.app.view.setCut(cut.on, cut.axis, cut.at);
    const slider = element("input", { type: "range", min: 0, max: 1, step: 0.005, value: cut.at,
      "aria-label": "place of the cut", oninput: () => {
        cut.at = Number(slider.value);
        setFill(slider, cut.at);
        apply();
      } });
    setFill(slider, cut.at);
    return fold("Cut", cut.on,
      toggle("Cut the character open", cut.on, (on) => {
        cut.on = on;
        apply();
      }),
      row("Across", segmented("axis of the cut", ["x", "y", "z"].map((value) => ({ value, label: value })), cut.axis, (axis) => {
        cut.axis = axis;
        apply();
      })), slider);
  }
  setColoring(value) {
    const { app } = this;
    app.view.coloring = value;
    if (this.colorSelect.value !== value) this.colorSelect.value = value;
    app.view.applyLook();
    if (value.startsWith("map:") && app.description) {
      app.view.setMap(app.painter.values(value.slice(4), app.description.vertexCount));
    }
    return app.engine.ask("view", { color: value });
  }
  setWire(on) {
    this.app.view.wire = on;
    this.wireToggle.querySelector("input").checked = on;
    this.app.view.applyLook();
  }
  setSkeleton(on) {
    this.app.view.showSkeleton = on;
    this.skeletonToggle.querySelector("input").checked = on;
    this.app.view.applyLook();
  }
  /** What the worker must know of what is drawn. */
  send() {
    const { view, engine } = this.app;
    engine.ask("view", { ghost: view.mode !== "one", color: view.coloring });
  }
  picture() {
    const { app } = this;
    app.view.picture((blob) => app.download(blob, `${app.description?.name ?? "cutis"}.png`));
  }
  /** The scale of the colours. */
  scale() {
    const { app } = this;
    const { view } = app;
    const on = !["material", "plain"].includes(view.coloring) && view.scale;
    app.scaleBox.hidden = !on;
    if (!on) return;
    const { low, high, unit } = view.scale;
    const label = { displacement: "difference from skinning" }[view.coloring]
      ?? view.coloring.replace("map:", "painted ").replaceAll("_", " ");
    app.scaleBar.style.background = gradient(view.scale);
    app.scaleEnds.replaceChildren(element("span", {}, number(low)), element("span.grow"), element("span", {}, number(high)));
    app.scaleName.textContent = `${label}${unit ? `, ${unit}` : ""}`;
  }
}
