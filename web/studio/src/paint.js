/*
 * paint.js: values painted on the skin with a brush, with undo and redo. A map has one number a vertex, 0 to 1.
 */
export const MAPS = [
  { name: "stiffness", start: 1, help: "factor on the stiffness: 0 soft, 1 as the parameters say" },
  { name: "fat", start: 1, help: "0 lean: muscle instead of fat, 1 as the parameters say" },
  { name: "freeze", start: 0, help: "1: the skin follows plain skinning" },
  { name: "depth", start: 1, help: "factor on the depth of the flesh" },
];

export class Painter {
  constructor(changed) {
    this.changed = changed;
    this.clear();
  }
  clear() {
    this.maps = {};
    this.past = [];
    this.future = [];
    this.stroke = null;
  }
  /** The values of a map, made when they are first needed. */
  values(name, count) {
    this.maps[name] ??= new Float32Array(count).fill(MAPS.find((map) => map.name === name)?.start ?? 0);
    return this.maps[name];
  }
  begin(name, count) {
    this.stroke = { name, before: this.values(name, count).slice() };
  }
  /** Pull the values around a place towards `target`; points: the point of each vertex, so that seams stay closed. */
  dab(positions, place, radius, target, strength) {
    const values = this.maps[this.stroke.name];
    for (let v = 0; v < values.length; v++) {
      const d = Math.hypot(positions[3 * v] - place.x, positions[3 * v + 1] - place.y, positions[3 * v + 2] - place.z) / radius;
      if (d < 1) values[v] += strength * (1 - d * d) ** 2 * (target - values[v]);
    }
  }
  end() {
    if (!this.stroke) return;
    this.past.push({ name: this.stroke.name, values: this.stroke.before });
    if (this.past.length > 50) this.past.shift();
    this.future = [];
    this.stroke = null;
    this.changed();
  }
  undo() { this.travel(this.past, this.future); }
  redo() { this.travel(this.future, this.past); }
  travel(from, to) {
    const entry = from.pop();
    if (!entry) return;
    to.push({ name: entry.name, values: this.maps[entry.name].slice() });
    this.maps[entry.name] = entry.values;
    this.changed();
  }
  /** Maps that say something. */
  given() {
    return Object.fromEntries(Object.entries(this.maps).filter(([name, values]) => {
      const start = MAPS.find((map) => map.name === name)?.start ?? 0;
      return values.some((value) => Math.abs(value - start) > 1e-4);
    }));
  }
}
