/*
 * layout.js: the elements of the page, as fields of the app.
 */
import { element, iconButton, segmented, select } from "./dom.js";
import { makeHelp } from "./keys.js";
import { Timeline } from "./timeline.js";

export const ENDINGS = ".glb,.gltf,.vrm,.fbx,.dae,.obj,.ply,.stl,.off,.bvh,.json";
const MODES = [
  { value: "one", label: "Flesh", title: "the simulation alone (1)" },
  { value: "two", label: "Two views", title: "plain skinning and flesh, the same place twice (2)" },
  { value: "split", label: "Slider", title: "plain skinning left of the line, flesh right of it (3)" },
  { value: "ghost", label: "Ghost", title: "plain skinning behind it, in blue (4)" },
];
const TOOLS = [["orbit", "orbit", "turn the view (Q)"], ["grab", "hand", "grab the flesh and throw it (G)"],
  ["blow", "blow", "hit the flesh (B)"], ["paint", "brush", "paint on the skin (P)"], ["joint", "bone", "turn a joint (J)"]];
const PANELS = [["solver", "Flesh"], ["look", "Look"], ["touch", "Touch"], ["rig", "Rig"], ["bake", "Bake"]];

export function makeLayout(app, host) {
  app.help = makeHelp();
  app.timeline = new Timeline({
    toggle: () => app.setPlaying(!app.playing),
    seek: (to) => app.seek(to),
    step: (by) => app.seek(app.timeline.frame + by),
    speed: (value) => app.engine.ask("speed", { value }),
    looping: (on) => app.engine.ask("looping", { on }),
  });
  app.toasts = element("div.toasts", { role: "alert", "aria-live": "assertive" });
  app.toast = (text, kind) => {
    const close = iconButton("close", "close", () => toast.remove());
    const toast = element(`div.toast.${kind}`, {}, element("span.grow", {}, text), close);
    app.toasts.append(toast);
    if (kind !== "error") setTimeout(() => toast.remove(), 5000);
    while (app.toasts.children.length > 3) app.toasts.firstChild.remove();
  };
  host.append(makeTop(app), makeView(app), app.timeline.element, makeSide(app), app.toasts, app.help);
}

function makeTop(app) {
  app.fileLabel = element("span.file", { title: "the open file" }, "");
  app.clipSelect = select("clip", [], "", (value) => app.setClip(value), { title: "motion", hidden: true });
  app.motionSelect = select("add a motion", [], "", (value) => app.guide.addMotion(value),
    { title: "built-in motions for this character", hidden: true });
  app.modeControl = segmented("compare with plain skinning", MODES, "one", (mode) => app.setMode(mode));
  app.input = element("input", { type: "file", hidden: true, multiple: true, accept: ENDINGS, onchange: () => {
    app.openFiles([...app.input.files]);
    app.input.value = "";
  } });
  return element("header.top", {}, element("h1.brand", {}, "cutis studio"),
    element("button", { type: "button", title: "open a character, a motion or a project (O)",
      onclick: () => app.input.click() }, "Open…"),
    app.fileLabel, app.clipSelect, app.motionSelect, element("span.grow"), app.modeControl, element("span.grow"),
    iconButton("link", "copy a link to what is shown", () => app.guide.copyLink()),
    iconButton("film", "save a film of the clip", () => app.film.save()),
    iconButton("sun", "light or dark (T)", () => app.toggleTheme()),
    iconButton("help", "keys and help (?)", () => app.help.showModal()), app.input);
}

function makeView(app) {
  app.canvasHost = element("div.canvas-host");
  app.toolButtons = Object.fromEntries(TOOLS.map(([tool, name, label]) =>
    [tool, iconButton(name, label, () => app.hand.use(tool), { "aria-pressed": "false" })]));
  app.detailBadge = element("div.badge.detail");
  app.offerButton = element("button.badge.offer", { type: "button", hidden: true,
    title: "built, and slower than real time on this machine", onclick: () => app.accept() });
  app.refineText = element("span");
  app.refineBadge = element("div.badge.refine", { hidden: true }, app.refineText,
    iconButton("close", "cancel (Esc)", () => app.cancel(), { className: "icon small" }));
  app.verdictBadge = element("button.badge.verdict", { type: "button", hidden: true,
    onclick: () => app.showPanel("solver") });
  app.slowBadge = element("div.badge.slow");
  app.motionBar = element("div.motions", { hidden: true });
  app.hint = element("div.hint", { "aria-live": "polite" });
  app.scaleBar = element("div.bar");
  app.scaleEnds = element("div.ends");
  app.scaleName = element("div");
  app.scaleBox = element("div.scale.badge", { hidden: true }, app.scaleName, app.scaleBar, app.scaleEnds);
  app.divider = element("div.divider", { hidden: true, role: "separator", tabIndex: 0,
    "aria-label": "between plain skinning and flesh" }, element("span", {}, "skinning"), element("span", {}, "flesh"));
  app.busyBar = element("div.busy", { role: "progressbar", "aria-label": "working", hidden: true });
  app.stageText = element("span");
  app.cancelButton = element("button", { type: "button", title: "(Esc)", hidden: true,
    onclick: () => app.cancel() }, "Cancel");
  app.stage = element("div.stage", { "aria-live": "polite", hidden: true }, app.stageText, app.cancelButton);
  app.gallery = element("div.chips");
  app.welcome = element("div.drop", {}, element("div.card", {}, element("h2", {}, "Drop a character here"),
    element("p.dim", {}, ".glb, .gltf, .vrm, .fbx, .dae, .obj, .ply, .stl or .off. Nothing leaves this computer."),
    app.gallery));
  app.toolBar = element("div.tools", { role: "toolbar", "aria-label": "tools", hidden: true },
    ...Object.values(app.toolButtons));
  return element("main.view", {}, app.canvasHost, app.toolBar,
    element("div.badges", {}, app.detailBadge, app.refineBadge, app.offerButton, app.verdictBadge, app.slowBadge),
    app.scaleBox, app.divider, app.motionBar, app.hint, app.stage, app.welcome, app.busyBar);
}

function makeSide(app) {
  app.panels = {};
  const tabs = element("div.tabs", { role: "tablist", "aria-label": "panels" });
  const side = element("aside.side", { "aria-label": "settings" }, tabs);
  for (const [name, label] of PANELS) {
    const first = name === PANELS[0][0];
    const panel = element("section.panel", { id: `panel_${name}`, role: "tabpanel", "aria-label": label, hidden: !first,
      tabIndex: 0 });
    const tab = element("button", { type: "button", role: "tab", id: `tab_${name}`, "aria-selected": String(first),
      "aria-controls": panel.id, onclick: () => app.showPanel(name) }, label);
    app.panels[name] = { panel, tab };
    tabs.append(tab);
    side.append(panel);
  }
  return side;
}
