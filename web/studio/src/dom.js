/*
 * dom.js: elements in one call, icons, and the few widgets that the panels are made of.
 */

/** element("button.primary", { onclick }, "text", child...) */
export function element(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const made = document.createElement(name || "div");
  made.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && !["list", "form", "role"].includes(key) && !key.startsWith("aria")) made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const PATHS = {
  play: "M7 4.5v15l12-7.5z",
  pause: "M6.5 4.5h4v15h-4zM13.5 4.5h4v15h-4z",
  back: "M18 5v14l-9-7zM6 5h2.4v14H6z",
  forward: "M6 5v14l9-7zM15.6 5H18v14h-2.4z",
  start: "M19 5v14l-7-7zM12 5v14l-7-7z",
  loop: "M7 7h9V4l5 4.5L16 13v-3H8v4H5V9a2 2 0 0 1 2-2zm10 10H8v3l-5-4.5L8 11v3h8v-4h3v5a2 2 0 0 1-2 2z",
  open: "M3 6a2 2 0 0 1 2-2h4l2 2h8a2 2 0 0 1 2 2v1H7.5L4 18.5A2 2 0 0 1 3 17zM8 10.5h14L19 20H4.5z",
  sun: "M12 7a5 5 0 1 1 0 10 5 5 0 0 1 0-10zM11 1h2v4h-2zM11 19h2v4h-2zM1 11h4v2H1zM19 11h4v2h-4zM4 5.4 5.4 4l2.8 2.8-1.4 1.4zM15.8 17.2l1.4-1.4L20 18.6 18.6 20zM4 18.6l2.8-2.8 1.4 1.4L5.4 20zM15.8 6.8 18.6 4 20 5.4l-2.8 2.8z",
  help: "M12 2a10 10 0 1 1 0 20 10 10 0 0 1 0-20zm-1 14v2.4h2.2V16zm1-10.4c-2.300 0-3.900 1.500-4 3.700h2.200c.1-1 .8-1.700 1.800-1.700s1.800.6 1.800 1.500c0 .9-.5 1.300-1.300 1.900-1 .7-1.600 1.400-1.500 2.900v.6h2.100v-.4c0-.8.3-1.200 1.200-1.800 1-.7 1.800-1.600 1.800-3.200 0-2.100-1.700-3.500-4.100-3.500z",
  hand: "M9 3.500a1.500 1.500 0 0 1 3 0V10h.6V2.600a1.500 1.500 0 0 1 3 0V10h.6V4.500a1.500 1.500 0 0 1 3 0V15c0 4-2.700 7-6.700 7-3.300 0-4.900-1.600-6.300-4.300L3.700 13c-.5-1.200.9-2.300 1.900-1.500L8.400 14V3.500z",
  orbit: "M12 4a8 8 0 1 1-7.700 10h2.100A6 6 0 1 0 8 7.500L10.500 10H4V3.500l2.500 2.600A8 8 0 0 1 12 4zm0 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6z",
  brush: "M20.700 3.300a2.200 2.200 0 0 0-3.100 0l-8 8 3.100 3.100 8-8a2.200 2.200 0 0 0 0-3.100zM8 13c-2 0-3.500 1.500-3.500 3.500 0 1.500-1 2.500-2 3 1 1 2.500 1.500 4 1.500 2.500 0 4.700-1.800 4.700-4.300C11.200 14.500 9.500 13 8 13z",
  bone: "M6 3a3 3 0 0 1 3 3c0 .4-.1.800-.2 1.100l8.100 8.100A3 3 0 1 1 21 18a3 3 0 1 1-3.000 3 3 3 0 0 1-2.900-3.900L7 9a3 3 0 1 1-4-3 3 3 0 0 1 3-3z",
  blow: "M3 8h10a2.500 2.500 0 1 0-2.500-2.500h2A.5.5 0 1 1 13 6H3zm0 3h15a2.500 2.500 0 1 1-2.500 2.500h2A.5.5 0 1 0 18 13H3zm0 5h8a2.500 2.500 0 1 1-2.500 2.500h2A.5.5 0 1 0 11 18H3z",
  reset: "M12 5a7 7 0 1 1-6.700 9h2.200A5 5 0 1 0 8.300 8.700L11 11.500H4v-7l2.800 2.800A7 7 0 0 1 12 5z",
  link: "M10 14a4.500 4.500 0 0 0 6.400 0l3-3A4.500 4.500 0 0 0 13 4.600l-1.500 1.500 1.400 1.400 1.500-1.500a2.500 2.500 0 0 1 3.600 3.600l-3 3a2.500 2.500 0 0 1-3.600 0zM14 10a4.500 4.500 0 0 0-6.400 0l-3 3A4.500 4.500 0 0 0 11 19.400l1.500-1.500-1.400-1.400-1.500 1.500A2.500 2.500 0 0 1 6 14.400l3-3a2.500 2.500 0 0 1 3.600 0z",
  film: "M3 6a2 2 0 0 1 2-2h9a2 2 0 0 1 2 2v2.500l5-3v13l-5-3V18a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z",
  close: "M6 4.600 12 10.600l6-6L19.400 6l-6 6 6 6-1.400 1.400-6-6-6 6L4.600 18l6-6-6-6z",
};

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/** A round button with an icon; the tooltip names it and its key. */
export function iconButton(name, label, onclick, attributes = {}) {
  return element("button.icon", { type: "button", title: label, "aria-label": label.replace(/ \(.*\)$/, ""), onclick, ...attributes }, icon(name));
}

export function select(label, options, value, onchange, attributes = {}) {
  const made = element("select", { "aria-label": label, title: attributes.title ?? label, onchange: () => onchange(made.value), ...attributes });
  fillSelect(made, options, value);
  return made;
}

/** options: ["a", { value, label, group }] */
export function fillSelect(made, options, value) {
  made.replaceChildren();
  const groups = new Map();
  for (const option of options) {
    const { value: own, label = own, group } = typeof option === "string" ? { value: option } : option;
    const entry = element("option", { value: own, selected: own === value }, label);
    if (!group) {
      made.append(entry);
    } else {
      if (!groups.has(group)) {
        groups.set(group, element("optgroup", { label: group }));
        made.append(groups.get(group));
      }
      groups.get(group).append(entry);
    }
  }
  if (value !== undefined) made.value = value;
}

export function toggle(label, value, onchange, title = label) {
  const input = element("input", { type: "checkbox", checked: value, onchange: () => onchange(input.checked) });
  return element("label.toggle", { title }, input, element("span", {}, label));
}

/** Several buttons of which one is chosen. */
export function segmented(label, options, value, onchange) {
  const made = element("div.segmented", { role: "radiogroup", "aria-label": label });
  const buttons = options.map(({ value: own, label: text, title }) =>
    element("button", { type: "button", role: "radio", title: title ?? text, "aria-checked": String(own === value), onclick: () => choose(own, true) }, text));
  function choose(own, tell) {
    buttons.forEach((button, i) => button.setAttribute("aria-checked", String(options[i].value === own)));
    if (tell) onchange(own);
  }
  made.append(...buttons);
  made.choose = (own) => choose(own, false);
  return made;
}

/** How much of a slider's track is filled, 0 to 1. */
export function setFill(slider, share) {
  slider.style.setProperty("--fill", `${100 * share}%`);
}

/**
 * A slider in plain words. middle: the value as the solver has it, null: none. change(value) when it is let go, or at once with
 * `live`.
 */
export function plainSlider({ label, low, high, help, min, max, step, middle, value, change, live = false }) {
  const slider = element("input", { type: "range", min, max, step, value, "aria-label": label.toLowerCase(),
    oninput: () => moved(live), onchange: () => live || moved(true) });
  const share = () => (Number(slider.value) - min) / (max - min);
  const moved = (act) => {
    setFill(slider, share());
    made.classList.toggle("changed", middle !== null && Number(slider.value) !== middle);
    if (act) change(Number(slider.value));
  };
  const reset = element("button.icon.small.reset", { type: "button", title: "back to the middle",
    "aria-label": `reset ${label.toLowerCase()}`, onclick: () => {
      slider.value = String(middle);
      moved(true);
    } }, icon("reset"));
  const made = element("div.plain", { title: help }, element("div.head", {}, element("span.name", {}, label),
    element("span.grow"), reset), slider,
  element("div.ends", {}, element("span", {}, low), element("span.grow"), element("span", {}, high)));
  moved(false);
  return made;
}

export function row(label, ...controls) {
  return element("div.row", {}, element("span.label", {}, label), ...controls);
}

/** A folding part of a panel. */
export function fold(title, open, ...children) {
  return element("details", { open }, element("summary", {}, title), element("div.fold", {}, ...children));
}
