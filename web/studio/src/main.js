/*
 * main.js: the page begins here.
 */
import "./style.css";

import { App } from "./app.js";

window.app = new App(document.getElementById("app"));
