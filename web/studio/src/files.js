/*
 * files.js: characters, motions and projects come in by the button, by dropping or by a URL; projects and pictures go out.
 */
import { element } from "./dom.js";
import { readProject } from "./project.js";

export class Files {
  constructor(app) {
    this.app = app;
    const stop = (event) => event.preventDefault();
    const { welcome } = app;
    addEventListener("dragover", (event) => {
      stop(event);
      welcome.hidden = false;
      welcome.classList.add("over");
    });
    const left = () => {
      welcome.classList.remove("over");
      welcome.hidden = Boolean(app.description) && !app.guide?.waiting;
    };
    addEventListener("dragleave", (event) => !event.relatedTarget && left());
    addEventListener("drop", (event) => {
      stop(event);
      left();
      app.openFiles([...event.dataTransfer.files]);
    });
    addEventListener("beforeunload", (event) => app.bakePanel?.abort && event.preventDefault()); // a bake would be lost
  }
  async openUrl(url) {
    const { app } = this;
    await app.busy(async () => {
      const answer = await fetch(url);
      if (!answer.ok) throw new Error(`${url} cannot be fetched: ${answer.status} ${answer.statusText}`);
      await app.open({ bytes: await answer.arrayBuffer(), name: decodeURIComponent(url.split("/").at(-1)), url });
    });
  }
  async openFiles(list) {
    const { app } = this;
    for (const file of list) {
      const bytes = await file.arrayBuffer();
      if (/\.json$/i.test(file.name)) await app.openProject(new TextDecoder().decode(bytes));
      else if (/\.bvh$/i.test(file.name)) await app.rigPanel.motion({ bytes, name: file.name });
      else await app.open({ bytes, name: file.name });
    }
  }

  // ---- projects: what `cutis bake --config` takes ----

  saveProject() {
    const { app } = this;
    const text = JSON.stringify(app.bakePanel.config(), null, 2) + "\n";
    this.download(new Blob([text], { type: "application/json" }), `${app.description?.name ?? "cutis"}.json`);
  }
  async openProject(text) {
    const { app } = this;
    try {
      const { clip, given, unused, ...read } = readProject(text, app.tables, app.project.solver);
      Object.assign(app.project, read, { solver: read.solver ?? app.project.solver });
      const known = app.description?.clips.some((one) => one.name === clip);
      if (known) app.project.clip = clip;
      else if (clip && app.description) unused.push(`clip '${clip}', which this character has not`);
      if (unused.length) app.say(`Of the project the page does not use: ${unused.join(", ")}.`, "warning");
      app.bakePanel.take(given);
      app.showPanels();
      await app.build({ restart: true });
    } catch (error) {
      app.say(`The project cannot be read: ${error.message}`);
    }
  }
  download(blob, name) {
    const link = element("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
}
