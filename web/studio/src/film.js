/*
 * film.js: a film of what is shown, as WebM: the clip once at its own speed, however fast this machine is, or one turn of the
 * camera around a frame. Every frame is simulated, drawn and encoded in turn (WebCodecs).
 */
import { Vector3 } from "three";

import { webm } from "./webm.js";

const FPS = 30;
const TURN_SECONDS = 4;
const MAX_SECONDS = 20;
const SIZES = [[1280, 720], [960, 540]];

export class Film {
  constructor(app) {
    this.app = app;
    this.abort = null;
  }
  async save(options) {
    const { app } = this;
    if (!app.description || this.abort) return;
    const blob = await app.busy(() => this.record(options), "film");
    if (blob) app.download(blob, `${app.description.name || "cutis"}.webm`);
  }
  cancel() {
    this.abort?.abort();
    return Boolean(this.abort);
  }
  /** The film as a Blob; null when it was cancelled. most: seconds; size: width and height. */
  async record({ turntable = false, most = MAX_SECONDS, size = SIZES[this.app.view.software ? 1 : 0] } = {}) {
    const { app } = this;
    const { view, engine } = app;
    if (!globalThis.VideoEncoder) throw new Error("this browser has no WebCodecs, which films need");
    const before = { frame: app.timeline.frame, playing: app.playing, camera: view.camera.position.clone(),
      places: [view.camera.position, view.orbit.target, view.anchor].map((place) => [place, place.clone()]) };
    await app.setPlaying(false);
    this.abort = new AbortController();
    const { signal } = this.abort;
    const seconds = Math.min(most, turntable ? TURN_SECONDS : Math.max(1 / FPS, app.timeline.frames / 60));
    const count = Math.round(seconds * FPS);
    const chunks = [];
    const [width, height] = size;
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    const g = canvas.getContext("2d");
    let failure = null;
    const encoder = new VideoEncoder({
      output: (chunk) => {
        const bytes = new Uint8Array(chunk.byteLength);
        chunk.copyTo(bytes);
        chunks.push({ bytes, milliseconds: chunk.timestamp / 1000, key: chunk.type === "key" });
      },
      error: (error) => (failure = error),
    });
    encoder.configure({ codec: "vp8", width, height, bitrate: 6e6, framerate: FPS });
    try {
      for (let i = 0; i < count && !signal.aborted; i++) {
        if (failure) throw failure;
        app.working("film", i / count);
        if (turntable) this.turn(before.camera, i / count);
        else await engine.ask("seek", { to: (60 * i) / FPS });
        this.draw(g, width, height);
        const frame = new VideoFrame(canvas, { timestamp: Math.round((1e6 * i) / FPS) });
        encoder.encode(frame, { keyFrame: i % FPS === 0 });
        frame.close();
        while (encoder.encodeQueueSize > 4) await new Promise((go) => setTimeout(go, 2));
        if (i % 4 === 0) await new Promise((go) => setTimeout(go)); // the page lives
      }
      await encoder.flush();
      if (signal.aborted) return null;
      return new Blob([webm(chunks, { width, height, fps: FPS })], { type: "video/webm" });
    } finally {
      if (encoder.state !== "closed") encoder.close();
      this.abort = null;
      view.resize();
      await engine.ask("seek", { to: before.frame });
      for (const [place, was] of before.places) place.copy(was);
      view.dirty = true;
      if (before.playing) app.setPlaying(true);
    }
  }
  /** The camera, a share of a turn around what it looks at. */
  turn(from, share) {
    const { view } = this.app;
    const way = from.clone().sub(view.orbit.target).applyAxisAngle(new Vector3(0, 1, 0), 2 * Math.PI * share);
    view.camera.position.copy(view.orbit.target).add(way);
    view.camera.lookAt(view.orbit.target);
  }
  /** What the view shows, in the size of the film, with names for its halves. */
  draw(g, width, height) {
    const { view } = this.app;
    view.renderAt(width, height);
    g.drawImage(view.canvas, 0, 0, width, height);
    const at = { two: 0.5, split: view.divider }[view.mode];
    if (at === undefined) return;
    const middle = Math.round(at * width);
    g.fillStyle = "#f08a5d";
    g.fillRect(middle - 1, 0, 2, height);
    g.font = `600 ${Math.round(height / 30)}px system-ui, sans-serif`;
    g.fillStyle = document.documentElement.dataset.theme === "dark" ? "#e8eaed" : "#1d2126";
    g.textAlign = "right";
    g.fillText("skinning", middle - height / 40, height / 18);
    g.textAlign = "left";
    g.fillText("flesh", middle + height / 40, height / 18);
  }
}
