/*
 * timeline.js: play, pause, scrub, and what happened at every frame: time of a frame, volume, contacts.
 */
import { element, icon, iconButton, select } from "./dom.js";

const SERIES = [
  { name: "ms", label: "frame time", unit: "ms", color: "--plot-a", digits: 1 },
  { name: "volume", label: "volume", unit: "%", color: "--plot-b", digits: 1 },
  { name: "contacts", label: "contacts", unit: "", color: "--plot-c", digits: 0 },
];

export class Timeline {
  constructor({ toggle, seek, step, speed, looping }) {
    this.frames = 0;
    this.frame = 0;
    this.series = { ms: [], volume: [], contacts: [] };
    this.seek = seek;
    this.playButton = iconButton("play", "play or pause (Space)", toggle, { className: "icon primary" });
    this.time = element("output.time", { title: "seconds of the clip, frame of 1/60 s" }, "0.00 s");
    this.rate = element("output.rate", { title: "simulated seconds in a second" }, "");
    this.loopButton = iconButton("loop", "start again at the end (L)", () => {
      const on = this.loopButton.getAttribute("aria-pressed") !== "true";
      this.loopButton.setAttribute("aria-pressed", String(on));
      looping(on);
    }, { "aria-pressed": "true" });
    this.scrub = element("input.scrub", { type: "range", min: 0, max: 0, step: 1, value: 0, "aria-label": "frame", oninput: () => seek(Number(this.scrub.value)) });
    this.plot = element("canvas.plot", { title: "frame time, volume and contacts of every frame that was simulated", role: "img", "aria-label": "frame time, volume and contacts over the clip" });
    this.legend = element("div.legend");
    this.element = element("footer.timeline", {},
      element("div.transport", {},
        iconButton("start", "to the first frame (Home)", () => seek(0)),
        iconButton("back", "one frame back (Left)", () => step(-1)),
        this.playButton,
        iconButton("forward", "one frame further (Right)", () => step(1)),
        this.loopButton,
        select("speed", [0.1, 0.25, 0.5, 1, 2].map((value) => ({ value: String(value), label: `${value}×` })), "1", (value) => speed(Number(value)), { title: "speed of playing" }),
        this.time, this.rate, element("span.grow"), this.legend),
      element("div.track", {}, this.plot, this.scrub));
    new ResizeObserver(() => this.draw()).observe(this.plot);
  }
  setPlaying(on) {
    this.playButton.replaceChildren(icon(on ? "pause" : "play"));
  }
  reset(frames) {
    this.frames = frames;
    this.scrub.max = String(Math.max(1, frames));
    this.scrub.disabled = frames === 0;
    for (const key of Object.keys(this.series)) this.series[key] = [];
    this.draw();
  }
  update({ frame, log, playing }) {
    this.frame = frame;
    this.scrub.value = String(frame);
    for (const one of log) {
      const k = Math.min(one.frame, 20000);
      this.series.ms[k] = one.ms;
      this.series.volume[k] = 100 * one.volume;
      this.series.contacts[k] = one.contacts;
    }

    // figures that change faster cannot be read, and each costs a drawing of the page
    if (playing && performance.now() - (this.shown ?? 0) < 150) return;
    this.shown = performance.now();
    this.time.textContent = `${(frame / 60).toFixed(2)} s`;
    const at = Math.min(frame, 20000);
    this.legend.replaceChildren(...SERIES.map(({ name, label, unit, color, digits }) => element("span", { style: `--c: var(${color})` }, `${label} `, element("b", {}, this.series[name][at] === undefined ? "–" : `${this.series[name][at].toFixed(digits)}${unit && " "}${unit}`))));
    this.draw();
  }
  draw() {
    const { clientWidth: width, clientHeight: height } = this.plot;
    if (!width) return;
    const ratio = devicePixelRatio;
    if (this.plot.width !== width * ratio) Object.assign(this.plot, { width: width * ratio, height: height * ratio });
    const g = this.plot.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    const style = getComputedStyle(this.plot);
    const count = Math.max(this.frames, this.series.ms.length - 1, 1);
    for (const { name, color } of SERIES) {
      const values = this.series[name];
      const known = values.filter((value) => Number.isFinite(value));
      if (!known.length) continue;
      const low = name === "volume" ? Math.min(90, ...known) : 0;
      const high = name === "volume" ? Math.max(110, ...known) : Math.max(1e-6, ...known);
      g.strokeStyle = style.getPropertyValue(color);
      g.lineWidth = 1.4;
      g.beginPath();
      let open = false;
      for (let i = 0; i <= count; i++) {
        if (!Number.isFinite(values[i])) {
          open = false;
          continue;
        }
        const x = (i / count) * width;
        const y = height - 3 - ((values[i] - low) / (high - low)) * (height - 6);
        if (open) g.lineTo(x, y);
        else g.moveTo(x, y);
        open = true;
      }
      g.stroke();
    }
    g.fillStyle = style.getPropertyValue("--accent");
    g.fillRect((this.frame / count) * width - 0.75, 0, 1.5, height);
  }
}
