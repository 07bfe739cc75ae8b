/*
 * project.js: project files: the .json that `cutis bake --config` takes, read and checked. A mistake is an Error with one sentence.
 */
const NUMBERS = ["fps", "start", "end", "lead_in"];
const KNOWN = ["solver", "clip", "set", "detail", "loop", "prop", ...NUMBERS];

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const check = (fits, sentence) => {
  if (!fits) throw new Error(sentence);
};

/** { bones: { Hips: { x: 1 } } } as { "bones.Hips.x": 1 }. */
function flatten(object, prefix = "") {
  return Object.fromEntries(Object.entries(object).flatMap(([key, value]) => {
    const name = prefix + key;
    if (isObject(value)) return Object.entries(flatten(value, `${name}.`));
    check(["number", "boolean", "string"].includes(typeof value), `the value of '${name}' must be a number, true, false or text`);
    return [[name, value]];
  }));
}

/** "ball", "ball@0,1,0" or "ball@0,1,0,2" of the command line. */
function propOfText(text) {
  check(typeof text === "string", "'prop' must be a list of texts such as \"ball@0,1,0\"");
  const [name, place] = text.split("@");
  const numbers = place ? place.split(",").map(Number) : [];
  check(numbers.every(Number.isFinite) && [0, 3, 4].includes(numbers.length), `prop '${text}' needs 3 or 4 numbers behind '@'`);
  return { name, position: place ? numbers.slice(0, 3) : undefined, scale: numbers[3] ?? 1 };
}

/** Refuse settings that the solvers' tables do not have, and values outside of them. */
export function checkSettings(settings, solver, over) {
  for (const [key, value] of Object.entries(settings)) {
    const bone = /^bones\..+\.([^.]+)$/.exec(key);
    const surface = over && key.startsWith(`${over.name}.`);
    const name = bone ? bone[1] : surface ? key.slice(over.name.length + 1) : key;
    const known = (surface ? over : solver).parameters.find((one) => one.name === name && (!bone || one.perBone));
    check(known, `solver '${solver.name}' has no parameter '${key}'`);
    const { type, min, max, choices } = known;
    if (type === "bool") check([true, false, "on", "off", 0, 1].includes(value), `'${key}' must be true or false`);
    else if (type === "choice") check(choices.includes(String(value)), `'${key}' must be one of ${choices.join(", ")}`);
    else check(Number(value) >= min && Number(value) <= max, `'${key}' must be a number from ${min} to ${max}`);
  }
}

/**
 * A project from its text: { solver, over, settings, detail, clip, props } for the page (solver and clip null where the
 * project has none: then settings are those of `usual`), `given` for the options of the bake, and `unused`: keys that the page has no use for.
 */
export function readProject(text, tables, usual) {
  const given = JSON.parse(text);
  check(isObject(given), "the file must hold an object such as { \"solver\": \"lattice\", \"set\": { \"fat_stiffness\": 3 } }");
  check(given.solver === undefined || typeof given.solver === "string", "'solver' must be a name");
  const [solver, over = ""] = given.solver?.split("+") ?? [null];
  for (const name of [solver, over]) check(!name || tables.solvers.some((one) => one.name === name), `there is no solver '${name}'`);
  check(given.set === undefined || isObject(given.set), "'set' must be an object of parameters and values");
  for (const key of NUMBERS) check(given[key] === undefined || Number.isFinite(given[key]), `'${key}' must be a number`);
  check(given.loop === undefined || typeof given.loop === "boolean", "'loop' must be true or false");
  const detail = given.detail === "drawn" ? -1 : (given.detail ?? 0);
  check(Number.isInteger(detail) && detail >= -1, "'detail' must be a number of points or \"drawn\"");
  const props = given.prop === undefined ? [] : Array.isArray(given.prop) ? given.prop : [given.prop];
  const settings = flatten(given.set ?? {});
  const named = (name) => tables.solvers.find((one) => one.name === name);
  checkSettings(settings, named(solver ?? usual), named(over));
  return { solver, over, settings, detail, clip: given.clip ?? null, props: props.map(propOfText), given,
    unused: Object.keys(given).filter((key) => !KNOWN.includes(key)) };
}
