/*
 * bake_worker.js: the worker in which bake() of index.js runs; one bake, then it is ended.
 */
import { bakeHere } from "./core.js";
import { load } from "./load.js";

self.onmessage = ({ data }) => bakeHere(load, data, (message) => self.postMessage(message));
