/*
 * compare.js: flesh beside plain skinning: two views of one camera, a slider across one view, or a ghost; and the amount of flesh
 * that is shown.
 */
export class Compare {
  constructor(app) {
    this.app = app;
    this.installDrag();
  }
  setMode(mode) {
    const { app } = this;
    const { view, divider } = app;
    view.setMode(mode);
    app.modeControl.choose(mode);
    divider.hidden = mode !== "split" && mode !== "two";
    divider.classList.toggle("fixed", mode === "two");
    this.place(mode === "two" ? 0.5 : view.divider);
    return app.engine.ask("view", { ghost: mode !== "one" });
  }
  /** 0: plain skinning; 1: the flesh as it is; 2: twice what the flesh adds. */
  setAmount(amount) {
    this.amount = amount;
    return this.app.engine.ask("view", { amount });
  }
  place(at) {
    this.app.divider.style.left = `${100 * at}%`;
  }
  move(at) {
    const { view } = this.app;
    view.divider = Math.min(0.98, Math.max(0.02, at));
    view.dirty = true;
    this.place(view.divider);
  }
  installDrag() {
    const { divider, canvasHost, view } = this.app;
    const drag = (event) => {
      const box = canvasHost.getBoundingClientRect();
      if (view.mode === "split") this.move((event.clientX - box.left) / box.width);
    };
    divider.addEventListener("pointerdown", (event) => {
      divider.setPointerCapture(event.pointerId);
      divider.addEventListener("pointermove", drag);
    });
    divider.addEventListener("pointerup", () => divider.removeEventListener("pointermove", drag));
    divider.addEventListener("keydown", (event) => {
      if (!["ArrowLeft", "ArrowRight"].includes(event.key) || view.mode !== "split") return;
      event.stopPropagation();
      this.move(view.divider + (event.key === "ArrowLeft" ? -0.02 : 0.02));
    });
  }
}
