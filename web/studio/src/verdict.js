/*
 * verdict.js: the library's verdict of a result against plain skinning, with a way to the frames it names.
 */
import { element } from "./dom.js";

export const LEVELS = { good: "Good", look: "Worth a look", bad: "Bad" };

/** Notes for a panel. show(frame): go to a frame of the verdict; at most `most` findings. */
export function verdictNotes(verdict, show, most = 5) {
  const told = verdict.findings.slice(0, most).some(({ text }) => verdict.text.includes(text)); // by the finding below
  const text = told ? "" : verdict.text.replace(/^(good|bad): /, "");
  const finding = ({ text: sentence, level, worstFrame }) => element(`div.note.finding.${level}`, {}, element("span.grow", {}, sentence),
    worstFrame >= 0 ? element("button", { type: "button", title: "go to the worst frame", onclick: () => show(worstFrame) }, "Show") : null);
  return [element(`div.note.${verdict.level}`, {}, element("b", {}, `${LEVELS[verdict.level]}. `), text), ...verdict.findings.slice(0, most).map(finding)];
}
