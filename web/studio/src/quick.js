/*
 * quick.js: three plain sliders over any solver's parameters. Each is a factor, 1 as the solver has it. What a slider changes is
 * found by the names in the solver's table: softness divides the stiffness of flesh, jiggle divides its damping, fat multiplies
 * the depth at which fat ends.
 */
export const SLIDERS = [
  { name: "softness", label: "Softness", low: "firm", high: "soft", help: "how easily the flesh gives way" },
  { name: "fat", label: "Fat", low: "lean", high: "round", help: "how much of the flesh is fat instead of muscle" },
  { name: "jiggle", label: "Jiggle", low: "calm", high: "lively", help: "how long the flesh swings after a movement" },
];
export const MAX_FACTOR = 4; // either way

const STIFFNESS = /^(skin|fat|muscle)_stiffness$/;
const DAMPING = /(^|_)damping$/;
const FAT = /^(muscle_depth|fat_ratio)$/;

/** The parameters of a solver that a slider changes: [{ parameter, value(factor) }]. */
export function quickParameters(solver, name) {
  const find = (pattern) => solver.parameters.filter((one) => one.type === "float" && pattern.test(one.name));
  const clamp = ({ min, max }, value) => Number(Math.min(max, Math.max(min, value)).toPrecision(3));
  const scaled = (list, power) => list.map((one) => ({ parameter: one, value: (f) => clamp(one, one.default * f ** power) }));
  if (name === "softness") return scaled(find(STIFFNESS), -1);
  if (name === "jiggle") return scaled(find(DAMPING), -1);
  // a depth is a share, 0 to 1: its odds are multiplied, so that every factor gives a share
  return find(FAT).map((one) => ({ parameter: one, value: (f) => {
    const odds = (f * one.default) / (1 - one.default);
    return clamp(one, odds / (1 + odds));
  } }));
}

/** Settings of a solver for factors { softness, fat, jiggle }; what stands at 1 is left out. */
export function quickSettings(solver, factors) {
  const made = {};
  for (const { name } of SLIDERS) {
    if (factors[name] === 1) continue;
    for (const { parameter, value } of quickParameters(solver, name)) made[parameter.name] = value(factors[name]);
  }
  return made;
}
