/*
 * main.js: the page begins here.
 */
import "./style.css";

import { App } from "./app.js";
import { isolate, isolationIsMissing } from "./isolate.js";

const begin = () => (window.app = new App(document.getElementById("app")));
if (isolationIsMissing()) isolate().then((again) => again || begin());
else begin();
