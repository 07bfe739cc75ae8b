/*
 * guide.js: the first minute: a character that moves behind the drop card, and the gallery of built-in ones.
 */
import { element } from "./dom.js";

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
    if (wanted.get("open")) await app.openUrl(wanted.get("open"));
    else if (wanted.get("zoo")) await app.open({ zoo: wanted.get("zoo") });
    else if (!wanted.has("empty")) await this.demonstrate();
  }
  async demonstrate() {
    this.waiting = true;
    await this.app.open({ zoo: FIRST }, { welcome: true });
  }
  showMotions() {}
}
