/*
 * address.js: what is shown, in the page's address: character, clip, solver, settings, camera, frame. A link shows the same again
 * where the character is built in or has a URL.
 */
import { checkSettings } from "./project.js";

const round = (x) => Number(x.toPrecision(4));

/** The state as the part of an address behind '#'; empty without a character that a link can name. */
export function writeState(app) {
  if (!app.description || !(app.opened?.zoo || app.opened?.url)) return "";
  const { project, view, timeline } = app;
  const made = new URLSearchParams();
  if (app.opened.zoo) made.set("zoo", app.opened.zoo);
  else made.set("open", app.opened.url);
  if (app.opened.motion) made.set("motion", app.opened.motion);
  if (project.clip) made.set("clip", project.clip);
  if (!app.refining && !app.offer) made.set("solver", app.solverName()); // else the page chooses again
  if (Object.keys(project.settings).length) made.set("set", JSON.stringify(project.settings));
  if (project.detail !== app.draft) made.set("detail", String(project.detail));
  if (view.mode !== "one") made.set("mode", view.mode);
  if ((app.compare.amount ?? 1) !== 1) made.set("amount", String(app.compare.amount));
  made.set("camera", [...view.camera.position.toArray(), ...view.orbit.target.toArray()].map(round).join(","));
  made.set("frame", String(app.playing ? "play" : timeline.frame));
  return made.toString();
}

/**
 * A state from its text, checked against the tables: { zoo, open, motion, clip, solver, over, settings, detail, mode, amount,
 * camera, frame }. What is wrong is left out, and named in `wrong`.
 */
export function readState(text, tables) {
  const given = new URLSearchParams(text);
  const wrong = [];
  const made = { wrong, zoo: given.get("zoo"), open: given.get("open"), motion: given.get("motion"), clip: given.get("clip") };
  const take = (name, read) => {
    if (!given.has(name)) return;
    try {
      const value = read(given.get(name));
      if (value === undefined) wrong.push(name);
      else Object.assign(made, value);
    } catch {
      wrong.push(name);
    }
  };
  const named = (name) => tables.solvers.find((one) => one.name === name);
  take("solver", (value) => {
    const [solver, over = ""] = value.split("+");
    return named(solver) && (!over || named(over)) ? { solver, over } : undefined;
  });
  take("set", (value) => {
    const settings = JSON.parse(value);
    checkSettings(settings, named(made.solver ?? "lattice"), named(made.over));
    return { settings };
  });
  take("detail", (value) => (Number.isInteger(Number(value)) && Number(value) >= -1 ? { detail: Number(value) } : undefined));
  take("mode", (value) => (["one", "two", "split", "ghost"].includes(value) ? { mode: value } : undefined));
  take("amount", (value) => (Number(value) >= 0 && Number(value) <= 2 ? { amount: Number(value) } : undefined));
  take("camera", (value) => {
    const camera = value.split(",").map(Number);
    return camera.length === 6 && camera.every(Number.isFinite) ? { camera } : undefined;
  });
  take("frame", (value) => (value === "play" || Number.isInteger(Number(value)) ? { frame: value } : undefined));
  return made;
}

/** Show a state whose character is open. */
export async function showState(app, state) {
  const { view } = app;
  if (state.motion) await app.guide.addMotion(state.motion);
  const clip = app.description.clips.some(({ name }) => name === state.clip) ? state.clip : app.project.clip;
  if (state.clip && clip !== state.clip) state.wrong.push("clip");
  if (state.solver || state.settings || state.detail !== undefined || clip !== app.project.clip) {
    Object.assign(app.project, { clip, solver: state.solver ?? app.project.solver, over: state.over ?? app.project.over,
      settings: state.settings ?? app.project.settings, detail: state.detail ?? app.project.detail });
    app.clipSelect.value = clip ?? "";
    app.showPanels();
    await app.build({ restart: true });
  }
  if (state.amount !== undefined) await app.compare.setAmount(state.amount);
  if (state.mode) await app.setMode(state.mode);
  if (state.frame !== undefined && state.frame !== "play") await app.seek(Number(state.frame));
  if (state.camera) {
    view.camera.position.fromArray(state.camera);
    view.orbit.target.fromArray(state.camera, 3);
    view.anchor.fromArray(state.camera, 3);
    view.placeAround(view.anchor);
  }
  app.showPanels();
  if (state.wrong.length) app.say(`Of the link the page cannot use: ${state.wrong.join(", ")}.`, "warning");
}
