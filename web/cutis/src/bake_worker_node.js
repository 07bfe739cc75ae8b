/*
 * bake_worker_node.js: the worker in which bake() of node.js runs; one bake, then it is ended.
 */
import { parentPort } from "node:worker_threads";

import { bakeHere } from "./core.js";
import { load } from "./node.js";

parentPort.on("message", (data) => bakeHere(load, data, (message) => parentPort.postMessage(message)));
