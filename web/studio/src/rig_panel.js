/*
 * rig_panel.js: a skeleton and weights for a bare mesh: choose a template, look at the joints, drag those that stand wrong
 * (landmarks), rig again, add a motion.
 */
import { element, row, select } from "./dom.js";

export class RigPanel {
  constructor(app, panel) {
    this.app = app;
    this.panel = panel;
    this.landmarks = {};
    this.template = "auto";
    this.show();
  }
  show() {
    const { app } = this;
    const { description } = app;
    this.placing = this.made && description?.skinned;
    const templates = [{ value: "auto", label: "the one that fits best" }, ...app.tables.templates.map(({ name, summary }) => ({ value: name, label: `${name}: ${summary}` }))];
    const marks = Object.keys(this.landmarks);
    this.panel.replaceChildren(
      element("p", {}, !description ? "Open a mesh first." : description.skinned && !this.made ? "This character has a skeleton and weights. Rigging makes new ones." : this.made ? "Drag a joint that stands wrong, then rig again." : "This mesh has no skeleton yet. Rigging makes one, with weights."),
      row("Skeleton", select("skeleton", templates, this.template, (value) => (this.template = value))),
      element("div.buttons", {},
        element("button.primary", { type: "button", disabled: !description, onclick: () => this.rig() }, this.made ? "Rig again" : "Rig it"),
        element("button", { type: "button", disabled: !description?.skinned, title: "a .bvh, or another character's clip", onclick: () => app.input.click() }, "Add motion…"),
        element("button", { type: "button", disabled: !this.made, onclick: () => this.save() }, "Save .glb")),
      ...(marks.length ? [element("p.dim", {}, `Moved: ${marks.join(", ")}.`)] : []),
      ...(this.made ? [element("div", {}, ...this.made.sentences.map((text) => element("div.note", {}, text)))] : []),
      element("p.dim", {}, "A motion is matched by the names and places of the joints, turned to the rest pose and scaled to the legs."));
  }
  async rig() {
    const { app } = this;
    const made = await app.busy(() => app.engine.ask("makeRig", { skeleton: this.template === "auto" ? null : this.template, landmarks: this.landmarks }));
    if (!made) return;
    this.made = made;
    await this.arrived(made);
    app.setSkeleton(true);
    app.hand.use("joint");
    app.hint.textContent = "click a joint that stands wrong and drag it, then rig again";
  }
  async arrived(description, clip = null) {
    const { app } = this;
    const bytes = app.description.bytes;
    await app.withdraw();
    app.project.solver = app.solverFor("first").name;
    app.project.settings = {};
    await app.take({ ...description, bytes: description.bytes ?? bytes }, { clip });
    app.showPanel("rig");
    this.show();
  }
  async motion(file) {
    const { app } = this;
    if (!app.description) return app.say("Open a character before its motion.");
    if (!app.description.skinned) {
      const made = await app.busy(() => app.engine.ask("makeRig", { skeleton: null, landmarks: {} }));
      if (!made) return null;
      this.made = made;
    }
    const made = await app.busy(() => app.engine.ask("addMotion", file, [file.bytes]));
    if (!made) return null;
    await this.arrived(made, made.clips.at(-1).name);
    app.setPlaying(true);
    return null;
  }
  chooseJoint(index) {
    const { app } = this;
    if (index < 0) return;
    app.hand.moveLandmark(app.description.joints[index].name, app.view.jointPlace(index), (name, position) => {
      this.landmarks[name] = position;
      app.view.moveJoint(index, position);
      this.show();
    });
  }
  save() {
    this.app.download(new Blob([this.made.file]), `${this.app.description.name}_rig.glb`);
  }
  forget() {
    this.made = null;
    this.landmarks = {};
  }
}
