/*
 * touch_panel.js: things that the flesh touches, and values painted on the skin.
 */
import { element, fold, iconButton, row, select, setFill } from "./dom.js";
import { tidy } from "./hand.js";
import { MAPS } from "./paint.js";
import { number } from "./parameters.js";

export class TouchPanel {
  constructor(app, panel) {
    this.app = app;
    this.panel = panel;
  }
  show() {
    const { app } = this;
    const props = app.tables.props.map(({ name, summary }) =>
      element("button", { type: "button", title: summary, onclick: () => this.addProp(name) }, `+ ${name}`));
    this.panel.replaceChildren(
      element("p.dim", {}, "Things that the flesh touches. Solvers with contact feel them; drag the gizmo to place them."),
      element("div.list", {}, ...app.project.props.map((prop, i) => this.item(prop, i))),
      element("div.buttons", {}, ...props), this.paint());
  }
  item(prop, i) {
    const { app } = this;
    const small = (x) => (Math.abs(x) < 1e-3 * app.description.size ? 0 : x);
    return element("div.item", { "aria-current": String(app.hand.prop === i) },
      element("button", { type: "button", title: "move it with the gizmo", onclick: () => app.hand.moveProp(i) }, prop.name),
      element("span.grow"),
      element("span.dim", {}, prop.position?.map((x) => number(small(x))).join(", ") ?? "where the clip reaches"),
      iconButton("close", `remove ${prop.name}`, () => {
        app.project.props.splice(i, 1);
        app.hand.moveProp(-1);
        this.show();
        app.build({ restart: true });
      }, { className: "icon small" }));
  }
  paint() {
    const { app } = this;
    const { brush } = app.hand;
    return fold("Paint", true,
      row("Value", select("what is painted", MAPS.map(({ name }) => ({ value: name, label: name })), brush.map, (value) => {
        brush.map = value;
        app.hand.use("paint");
        this.show();
      })),
      element("p.dim", {}, MAPS.find((map) => map.name === brush.map).help + "."),
      this.brushRow("Paint to", "target", 0, 1), this.brushRow("Size", "radius", 0.01, 0.25),
      this.brushRow("Strength", "strength", 0.05, 1),
      element("div.buttons", {},
        element("button", { type: "button", "aria-pressed": String(app.hand.tool === "paint"),
          onclick: () => app.hand.use("paint") }, "Brush"),
        element("button", { type: "button", title: "Ctrl Z", disabled: !app.painter.past.length,
          onclick: () => app.painter.undo() }, "Undo"),
        element("button", { type: "button", title: "Ctrl Y", disabled: !app.painter.future.length,
          onclick: () => app.painter.redo() }, "Redo"),
        element("button", { type: "button", title: "the file with what was painted, as .glb", disabled: !app.description,
          onclick: () => this.saveFile() }, "Save .glb")));
  }
  brushRow(label, key, min, max) {
    const { brush } = this.app.hand;
    const slider = element("input", { type: "range", min, max, step: (max - min) / 100, value: brush[key],
      "aria-label": label, oninput: () => {
        brush[key] = Number(slider.value);
        setFill(slider, (brush[key] - min) / (max - min));
      } });
    setFill(slider, (brush[key] - min) / (max - min));
    return row(label, element("span.grow", {}, slider));
  }
  async saveFile() {
    const { app } = this;
    const file = await app.busy(() => app.engine.ask("source"));
    if (file) app.download(new Blob([file.bytes]), file.name.replace(/\.\w+$/, "") + "_painted.glb");
  }
  async addProp(name) {
    const { app } = this;
    if (!app.description) return;
    const position = await app.busy(() => app.engine.ask("propPlace", { name, clip: app.project.clip }));
    if (!position) return;
    app.project.props.push({ name, position: tidy(position), scale: 1 });
    this.show();
    await app.build({ restart: true });
    app.hand.moveProp(app.project.props.length - 1);
  }
  painted() {
    const { app } = this;
    const name = `map:${app.hand.brush.map}`;
    if (app.view.coloring !== name) app.setColoring(name);
    app.view.setMap(app.painter.values(app.hand.brush.map, app.description.vertexCount));
    this.show();
    return app.build();
  }
}
