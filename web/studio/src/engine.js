/*
 * engine.js: the page's end of the worker: questions with answers, and frames as they come.
 */
export class Engine {
  constructor() {
    this.worker = new Worker(new URL("./simulation.js", import.meta.url), { type: "module" });
    this.waiting = new Map();
    this.next = 1;
    this.onframe = () => {};
    this.onended = () => {};
    this.onverdict = () => {};
    this.onstage = () => {};
    this.onerror = () => {};
    this.worker.onmessage = ({ data }) => {
      if (data.kind === "frame") return this.onframe(data);
      if (data.kind === "ended") return this.onended();
      if (data.kind === "verdict") return this.onverdict(data);
      if (data.kind === "stage") return this.onstage(data);
      const { resolve, reject } = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (data.error !== undefined) reject(new Error(data.error));
      else resolve(data.result);
    };
    this.worker.onerror = (event) => this.onerror(event.message ?? "the worker ended");
  }
  ask(kind, given = {}, transfer = []) {
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, kind, ...given }, transfer);
    });
  }
  /** The frame is drawn: its buffers go back. */
  drawn(buffers) {
    this.worker.postMessage({ kind: "drawn", buffers }, buffers);
  }
}
