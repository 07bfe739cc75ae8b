/*
 * colors.js: numbers as colours, by the palettes of the output tables.
 */
const SEQUENTIAL = [[0.18, 0.22, 0.42], [0.13, 0.45, 0.56], [0.22, 0.66, 0.47], [0.78, 0.83, 0.25], [0.98, 0.91, 0.45]];
const DIVERGING = [[0.15, 0.35, 0.75], [0.55, 0.72, 0.92], [0.92, 0.90, 0.87], [0.95, 0.62, 0.45], [0.75, 0.16, 0.14]];
const TOUCH = [[0.85, 0.64, 0.55], [0.95, 0.55, 0.35], [0.93, 0.25, 0.2], [0.6, 0.05, 0.15]];
export const LAYERS = [[0.93, 0.9, 0.82], [0.78, 0.22, 0.22], [0.97, 0.82, 0.36], [0.6, 0.75, 0.4], [0.4, 0.65, 0.8], [0.9, 0.68, 0.56]];

function mix(stops, t) {
  const at = Math.min(0.99999, Math.max(0, t)) * (stops.length - 1);
  const i = Math.floor(at);
  const f = at - i;
  return [0, 1, 2].map((k) => stops[i][k] + f * (stops[i + 1][k] - stops[i][k]));
}

/** Range and palette of a colouring: { low, high, stops, unit, label }. */
export function scaleOf(name, output, values) {
  if (name === "stretch") return { low: 0.5, high: 1.5, stops: DIVERGING, unit: "of rest length" };
  if (name === "volume change") return { low: 0.5, high: 1.5, stops: DIVERGING, unit: "of rest volume" };
  if (name === "displacement") return { low: 0, high: 0.03, stops: SEQUENTIAL, unit: "of the size" };
  if (name.startsWith("map:")) return { low: 0, high: 1, stops: SEQUENTIAL, unit: "" };
  let [low, high] = output?.range ?? [0, 0];
  if (low === high) {
    low = Infinity;
    high = -Infinity;
    for (const value of values) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    if (!(high > low)) high = low + 1;
  }
  const stops = output?.palette === "touch" ? TOUCH : output?.palette === "category" ? LAYERS : SEQUENTIAL;
  return { low, high, stops, unit: output?.unit ?? "" };
}

export function paintColors(values, scale, into) {
  const table = Array.from({ length: 256 }, (_, i) => mix(scale.stops, i / 255));
  const factor = 255 / (scale.high - scale.low);
  for (let v = 0; v < values.length; v++) {
    const c = table[Math.min(255, Math.max(0, Math.round((values[v] - scale.low) * factor)))];
    into[3 * v] = c[0] ** 2.2;
    into[3 * v + 1] = c[1] ** 2.2;
    into[3 * v + 2] = c[2] ** 2.2;
  }
}

export function gradient(scale) {
  return `linear-gradient(to right, ${scale.stops.map((c) => `rgb(${c.map((x) => Math.round(255 * x)).join(" ")})`).join(", ")})`;
}
