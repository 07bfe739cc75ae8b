/*
 * guide.js: the first minute: a character that moves behind the drop card, and the gallery of built-in ones.
 */
import { readState, showState, writeState } from "./address.js";
import { element, fillSelect } from "./dom.js";
import { MOTIONS, motionText } from "./motions.js";

const FIRST = "man"; // plays behind the drop card

export class Guide {
  constructor(app) {
    this.app = app;
    this.waiting = false; // the drop card is shown
    app.gallery.append(...app.tables.zoo.map(({ name, summary }) => element("button", { type: "button", title: summary,
      onclick: () => this.app.open({ zoo: name }) }, name)));
  }
  /** What the address names, or the first character behind the card. */
  async begin() {
    const { app } = this;
    const wanted = new URLSearchParams(location.search);
    const state = readState(location.hash.slice(1), app.tables);
    const zoo = state.zoo ?? wanted.get("zoo");
    const url = state.open ?? wanted.get("open");
    if (url) await app.openUrl(url);
    else if (zoo) await app.open({ zoo });
    else if (!wanted.has("empty")) await this.demonstrate();
    if ((url || zoo) && app.description) await showState(app, state);
    setInterval(() => this.remember(), 1000);
  }
  /** The address follows what is shown, so that a reload shows it again. */
  remember() {
    const text = this.waiting ? "" : writeState(this.app);
    const now = `#${text}`;
    if (now !== (location.hash || "#")) history.replaceState(null, "", `${location.pathname}${location.search}${text && now}`);
  }
  async copyLink() {
    const { app } = this;
    const text = writeState(app);
    if (!text) return app.say("A link can name built-in characters and files with a URL; this file is on your computer only.");
    const url = new URL(location.pathname, location.href);
    url.hash = text;
    try {
      await navigator.clipboard.writeText(String(url));
      app.say("The link is copied.", "good");
    } catch {
      app.say(String(url), "link");
    }
    return String(url);
  }
  async demonstrate() {
    await this.app.open({ zoo: FIRST }, { welcome: true });
  }
  /** What a character can be given that has a skeleton: a list in the top bar, and buttons where the file has no clip. */
  showMotions() {
    const { app } = this;
    const { skinned, clips } = app.description;
    const names = skinned ? MOTIONS.filter((name) => !clips.some((clip) => clip.name === name)) : [];
    fillSelect(app.motionSelect, [{ value: "", label: "+ motion" }, ...names], "");
    app.motionSelect.hidden = !names.length;
    app.motionBar.hidden = !names.length || clips.length > 0;
    app.motionBar.replaceChildren(element("span", {}, "This file has no motion. Play"),
      ...names.map((name) => element("button", { type: "button", onclick: () => this.addMotion(name) }, name)));
  }
  /** Play a built-in motion. */
  async addMotion(name) {
    const { app } = this;
    if (!name) return;
    await app.withdraw();
    const made = await app.busy(() => app.engine.ask("addBuiltIn", { name, text: motionText(name) }), name);
    if (!made) {
      this.showMotions();
      return;
    }
    app.project.solver = app.solverFor("first").name;
    app.opened.motion = name;
    await app.take({ ...made, bytes: app.description.bytes }, { clip: name });
  }
}
