/*
 * memory.js: WebAssembly's memory as JavaScript sees it: structs by the layouts of the headers, texts, arrays, and what a
 * call needs for its duration.
 */
import { constants, structs } from "../dist/structs.js";

const CODES = ["ok", "argument", "memory", "file", "format", "unsupported", "data", "interrupted"];

/** What the library says went wrong: one sentence, with what to do. */
export class CutisError extends Error {
  constructor(text, code = "argument") {
    super(text);
    this.name = "CutisError";
    this.code = code;
  }
}

/** "lead_in" -> "leadIn" */
export const camel = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
/** "leadIn" -> "lead_in" */
export const snake = (name) => name.replace(/[A-Z]/g, (letter) => "_" + letter.toLowerCase());

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Memory {
  constructor(module) {
    this.module = module;
    this.calls = new Map(); // of the host: those who listen to progress, by number
    this.nextCall = 1;
  }

  // ---- views: made anew for every use, because memory that grows moves ----

  get buffer() {
    return (this.module.wasmMemory ?? this.module.HEAPU8).buffer; // memory that threads share has no view that is renewed
  }
  data() {
    return new DataView(this.buffer);
  }
  floats(pointer, count) {
    return new Float32Array(this.buffer, pointer, pointer ? count : 0);
  }
  doubles(pointer, count) {
    return new Float64Array(this.buffer, pointer, pointer ? count : 0);
  }
  ints(pointer, count) {
    return new Int32Array(this.buffer, pointer, pointer ? count : 0);
  }
  bytes(pointer, count) {
    return new Uint8Array(this.buffer, pointer, pointer ? count : 0);
  }

  /** Text that ends with 0; null for no pointer. */
  text(pointer, limit = Infinity) {
    if (!pointer) return null;
    const bytes = new Uint8Array(this.buffer);
    let end = pointer;
    while (end - pointer < limit && bytes[end]) end++;
    return decoder.decode(bytes.slice(pointer, end));
  }
  /** An array of texts. */
  texts(pointer, count) {
    return Array.from(this.ints(pointer, count), (at) => this.text(at));
  }

  // ---- structs ----

  size(name) {
    return structs[name].size;
  }
  /** All fields of a struct, names as in C; pointers stay numbers, char * becomes text. */
  read(name, pointer) {
    const made = {};
    for (const [field, [offset, kind]] of Object.entries(structs[name].fields)) made[field] = this.value(kind, pointer + offset);
    return made;
  }
  /** The same with names of JavaScript and without pointers. */
  plain(name, pointer) {
    const made = {};
    for (const [field, [offset, kind]] of Object.entries(structs[name].fields)) {
      if (kind !== "p") made[camel(field)] = this.value(kind, pointer + offset);
    }
    return made;
  }
  field(name, pointer, field) {
    const [offset, kind] = structs[name].fields[field];
    return this.value(kind, pointer + offset);
  }
  value(kind, at) {
    const data = this.data();
    if (Array.isArray(kind)) {
      const [of, count] = kind;
      if (of === "c") return this.text(at, count);
      const step = this.stride(of);
      return Array.from({ length: count }, (_, i) => this.value(of, at + i * step));
    }
    switch (kind) {
      case "i": return data.getInt32(at, true);
      case "u": case "p": return data.getUint32(at, true);
      case "f": return data.getFloat32(at, true);
      case "d": return data.getFloat64(at, true);
      case "b": return data.getUint8(at) !== 0;
      case "c": return data.getUint8(at);
      case "s": return this.text(data.getUint32(at, true));
      case "U": return data.getBigUint64(at, true);
      case "I": return data.getBigInt64(at, true);
      default: return this.read(kind, at);
    }
  }
  stride(kind) {
    if (Array.isArray(kind)) return this.stride(kind[0]) * kind[1];
    return { b: 1, c: 1, d: 8, U: 8, I: 8 }[kind] ?? structs[kind]?.size ?? 4;
  }
  /** Write the fields that are given; texts and arrays behind pointers take their memory from the scope. */
  write(name, pointer, values, scope) {
    for (const [field, value] of Object.entries(values)) {
      const place = structs[name].fields[field];
      if (!place) throw new CutisError(`${name} has no field '${field}'`);
      if (value !== undefined && value !== null) this.put(place[1], pointer + place[0], value, scope);
    }
  }
  put(kind, at, value, scope) {
    if (Array.isArray(kind)) {
      const step = this.stride(kind[0]);
      for (let i = 0; i < Math.min(kind[1], value.length); i++) this.put(kind[0], at + i * step, value[i], scope);
      return;
    }
    if (kind === "s") value = typeof value === "string" ? scope.text(value) : value;
    const data = this.data();
    switch (kind) {
      case "i": data.setInt32(at, value, true); break;
      case "u": case "p": case "s": data.setUint32(at, value, true); break;
      case "f": data.setFloat32(at, value, true); break;
      case "d": data.setFloat64(at, value, true); break;
      case "b": data.setUint8(at, value ? 1 : 0); break;
      default: this.write(kind, at, value, scope);
    }
  }

  // ---- calls ----

  /** A function of C by its name. */
  function(name) {
    const found = this.module["_" + name];
    if (!found) throw new CutisError(`this module has no ${name}: load the whole one, not the live one`, "unsupported");
    return found;
  }
  run(name, ...values) {
    return this.function(name)(...values);
  }
  /** Call a function that returns a cutis_result and takes a cutis_error last; throw when it fails. */
  call(name, ...values) {
    const error = this.allocate(structs.cutis_error.size);
    try {
      const code = this.run(name, ...values, error);
      if (code) throw new CutisError(this.field("cutis_error", error, "text"), CODES[code]);
    } finally {
      this.run("free", error);
    }
  }
  /** The same for functions whose last argument before the error receives an object; returns its pointer. */
  make(name, ...values) {
    const at = this.allocate(4);
    try {
      this.call(name, ...values, at);
      return this.data().getUint32(at, true);
    } finally {
      this.run("free", at);
    }
  }
  /** Zeroed memory. */
  allocate(size) {
    const pointer = this.function("malloc")(Math.max(8, size));
    if (!pointer) throw new CutisError(`no memory for ${size} bytes`, "memory");
    this.bytes(pointer, Math.max(8, size)).fill(0);
    return pointer;
  }
  /** Run `body` with memory that is freed at its end. */
  scoped(body) {
    const scope = new Scope(this);
    try {
      return body(scope);
    } finally {
      for (const pointer of scope.blocks) this.run("free", pointer);
    }
  }
}

/** Memory of one call. */
class Scope {
  constructor(memory) {
    this.memory = memory;
    this.blocks = [];
  }
  room(size) {
    const pointer = this.memory.allocate(size);
    this.blocks.push(pointer);
    return pointer;
  }
  text(text) {
    if (text === null || text === undefined) return 0;
    if (typeof text !== "string") throw new CutisError(`a name must be text, not ${typeof text}`);
    return this.array(encoder.encode(text + "\0"), Uint8Array);
  }
  /** Numbers as an array of `type`. */
  array(values, type, what = "values") {
    if (!values || !values.length) return 0;
    const own = values instanceof type ? values : type.from(values);
    if (values.length !== own.length) throw new CutisError(`${what} must be an array of numbers`);
    const pointer = this.room(own.byteLength);
    new type(this.memory.buffer, pointer, own.length).set(own);
    return pointer;
  }
  floats(values, count, what) {
    if (values && count !== undefined && values.length !== count) {
      throw new CutisError(`${what} must have ${count} numbers, not ${values.length}`);
    }
    return this.array(values, Float32Array, what);
  }
  ints(values, count, what) {
    if (values && count !== undefined && values.length !== count) {
      throw new CutisError(`${what} must have ${count} numbers, not ${values.length}`);
    }
    return this.array(values, Int32Array, what);
  }
  struct(name, values) {
    const pointer = this.room(structs[name].size);
    this.memory.write(name, pointer, values, this);
    return pointer;
  }
  structs(name, list) {
    if (!list.length) return 0;
    const pointer = this.room(structs[name].size * list.length);
    list.forEach((values, i) => this.memory.write(name, pointer + i * structs[name].size, values, this));
    return pointer;
  }
  /** { fat_stiffness: 10, "bones.Spine.skin_stiffness": 20, self_collision: false } as settings. */
  settings(settings) {
    const list = Object.entries(settings ?? {}).map(([key, value]) => ({
      key,
      value: typeof value === "boolean" ? (value ? "on" : "off") : String(value),
    }));
    return { settings: this.structs("cutis_setting", list), setting_count: list.length };
  }
}

const forgotten = typeof FinalizationRegistry === "undefined" ? null : new FinalizationRegistry((free) => free());

/** An object of the library: freed by dispose(), or when it was forgotten. */
export class Owned {
  /** owner: who frees it instead (a rig its character). */
  constructor(cutis, pointer, destroy, owner = null) {
    this.cutis = cutis;
    this.owner = owner;
    const { memory } = cutis;
    const box = { pointer, blocks: [] }; // blocks: further memory that goes with it
    const free = () => {
      for (const block of box.blocks) memory.run("free", block);
      if (box.pointer && !owner) memory.run(destroy, box.pointer);
      box.pointer = 0;
      box.blocks = [];
    };
    Object.defineProperty(this, "box", { value: box });
    Object.defineProperty(this, "free", { value: free });
    forgotten?.register(this, free, this);
  }
  get pointer() {
    if (!this.box.pointer) throw new CutisError(`this ${this.constructor.name} was disposed of`);
    return this.box.pointer;
  }
  /** Free its memory now. What was made from it must have been disposed of before. */
  dispose() {
    forgotten?.unregister(this);
    this.free();
  }
}

export { constants, structs };
