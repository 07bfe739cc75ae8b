/*
 * keys.js: the keys of the page, and the dialog that lists them.
 */
import { element } from "./dom.js";

const LIST = [["Space", "play or pause"], ["← →", "one frame back or further"], ["Home", "first frame"],
  ["1 2 3 4", "flesh, two views, slider, ghost"], ["Q G B P J", "turn the view, grab, blow, paint, turn a joint"],
  ["F", "frame the character"], ["W", "wireframe"], ["K", "skeleton"], ["[ ]", "brush size"],
  ["Ctrl Z, Ctrl Y", "undo and redo paint"], ["L", "start again at the end, or not"], ["O", "open"],
  ["T", "light or dark"], ["Esc", "cancel a build or a bake; put the tool away"]];

export function makeHelp() {
  const made = element("dialog", { "aria-label": "keys and help" }, element("h2", {}, "Keys"),
    element("dl.keys", {}, ...LIST.flatMap(([key, text]) =>
      [element("dt", {}, element("kbd", {}, key)), element("dd", {}, text)])),
    element("p.dim", {}, "Every slider under Expert is a parameter of the solver; its tooltip describes it. A bake writes what "
      + "the page shows: the same library computes both, to the bit."),
    element("div.buttons", {}, element("button.primary", { type: "button", onclick: () => made.close() }, "Close")));
  return made;
}

export function installKeys(app) {
  const actions = {
    " ": () => app.setPlaying(!app.playing),
    arrowleft: () => app.seek(app.timeline.frame - 1),
    arrowright: () => app.seek(app.timeline.frame + 1),
    home: () => app.seek(0),
    1: () => app.setMode("one"),
    2: () => app.setMode("two"),
    3: () => app.setMode("split"),
    4: () => app.setMode("ghost"),
    q: () => app.hand.use("orbit"),
    g: () => app.hand.use("grab"),
    b: () => app.hand.use("blow"),
    p: () => app.hand.use("paint"),
    j: () => app.hand.use("joint"),
    f: () => app.description && app.view.frameCamera(),
    w: () => app.setWire(!app.view.wire),
    k: () => app.setSkeleton(!app.view.showSkeleton),
    o: () => app.input.click(),
    t: () => app.toggleTheme(),
    l: () => app.timeline.loopButton.click(),
    "?": () => app.help.showModal(),
    "[": () => app.hand.resize(0.8),
    "]": () => app.hand.resize(1.25),
    escape: async () => {
      if (app.bakePanel?.abort) return app.bakePanel.abort.abort();
      if (app.film.cancel()) return null;
      if (!(await app.cancel())) app.hand.use("orbit");
      return null;
    },
  };
  addEventListener("keydown", (event) => {
    const { target } = event;
    const key = event.key.toLowerCase();
    const typing = /^(input|select|textarea)$/i.test(target.tagName) && !["range", "checkbox"].includes(target.type);
    if ((typing && key !== "escape") || app.help.open) return;
    if ((event.ctrlKey || event.metaKey) && (key === "z" || key === "y")) {
      event.preventDefault();
      if (key === "y" || event.shiftKey) app.painter.redo();
      else app.painter.undo();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const pressed = key === " " && (/^(button|summary)$/i.test(target.tagName) || target.type === "checkbox");
    const slid = target.type === "range" && /^(arrow|home)/.test(key);
    if (actions[key] && !pressed && !slid) {
      event.preventDefault();
      actions[key]();
    }
  });
}
