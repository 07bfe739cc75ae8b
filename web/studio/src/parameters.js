/*
 * parameters.js: controls of a solver, made from its table of parameters: a slider for a number, a box for a truth value, a
 * list for a choice; with unit, range, help and reset; for the whole body or for one bone.
 */
import { element, icon, select } from "./dom.js";

const SUPERSCRIPT = { 2: "²", 3: "³" };
const pretty = (name) => name.replaceAll("_", " ");
const unitText = (unit) => unit.replace(/(?<=[a-z])([23])\b/g, (digit) => SUPERSCRIPT[digit]);

/** Seconds as people say them. */
export const seconds = (value) => `${value < 0.1 ? value.toFixed(2) : number(value)}\u00a0s`;

export function number(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.001 || size >= 100000)) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}

/** Ranges that reach far beyond the default are moved along by their logarithm. */
function mapping({ min, max, type, default: usual }) {
  const wide = type === "float" && min >= 0 && usual > 0 && max / usual > 20;
  if (!wide) return { to: (t) => min + t * (max - min), from: (v) => (v - min) / (max - min || 1) };
  const low = Math.max(min, max * 1e-4);
  const span = Math.log(max / low);
  return {
    to: (t) => (t <= 0 ? min : low * Math.exp(t * span)),
    from: (v) => (v <= low ? 0 : Math.log(v / low) / span),
  };
}

/**
 * The controls of a list of parameters. values: { name: value }; prefix: of the keys; change(key, value or undefined when reset).
 */
export function parameterControls(parameters, values, prefix, change) {
  return parameters.map((parameter) => {
    const key = prefix + parameter.name;
    const id = `p_${key.replace(/\W/g, "_")}`;
    const given = values[key];
    const fallback = parameter.type === "bool" ? parameter.default !== 0 : parameter.type === "choice" ? parameter.choices[parameter.default] : parameter.default;
    const title = `${parameter.help}${parameter.unit ? ` [${parameter.unit}]` : ""}`;
    const reset = element("button.icon.small.reset", { type: "button", title: `back to ${fallback}`, "aria-label": `reset ${pretty(parameter.name)}`, onclick: () => {
      set(fallback);
      change(key, undefined);
    } }, icon("reset"));
    const made = element("div.parameter", { title });
    const mark = (value) => made.classList.toggle("changed", value !== fallback);
    const name = element("label", { htmlFor: id }, pretty(parameter.name));
    let set;
    if (parameter.type === "bool") {
      const input = element("input", { id, type: "checkbox", checked: given === undefined ? fallback : given === true || given === "on", onchange: () => {
        mark(input.checked);
        change(key, input.checked);
      } });
      set = (value) => ((input.checked = value), mark(value));
      made.append(name, element("span.grow"), input, reset);
      made.classList.add("flat");
      mark(input.checked);
    } else if (parameter.type === "choice") {
      const input = select(pretty(parameter.name), parameter.choices, given ?? fallback, (value) => {
        mark(value);
        change(key, value);
      }, { id, title });
      set = (value) => ((input.value = value), mark(value));
      made.append(name, element("span.grow"), input, reset);
      made.classList.add("flat");
      mark(input.value);
    } else {
      const { to, from } = mapping(parameter);
      const whole = parameter.type === "int";
      const slider = element("input", { id, type: "range", min: 0, max: 1, step: whole ? 1 / Math.max(1, parameter.max - parameter.min) : 0.002,
        oninput: () => show(round(to(Number(slider.value)))), onchange: () => change(key, Number(box.value)) });
      const box = element("input.number", { type: "number", step: "any", min: parameter.min, max: parameter.max, "aria-label": pretty(parameter.name), onchange: () => {
        const value = Math.min(parameter.max, Math.max(parameter.min, Number(box.value) || 0));
        set(value);
        change(key, value);
      } });
      const round = (value) => (whole ? Math.round(value) : Number(value.toPrecision(3)));
      const show = (value) => {
        box.value = String(Number(Number(value).toPrecision(4)));
        slider.style.setProperty("--fill", `${100 * Number(slider.value)}%`);
        mark(Number(value));
      };
      set = (value) => {
        slider.value = String(from(Number(value)));
        show(value);
      };
      set(given ?? fallback);
      made.append(element("div.head", {}, name, element("span.grow"), box, element("span.unit", {}, unitText(parameter.unit)), reset), slider);
    }
    return made;
  });
}
