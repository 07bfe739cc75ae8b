/*
 * browser.mjs: Debian's Chromium, headless, drawing in software.
 */
import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { join } from "node:path";

const { chromium } = createRequire(join(import.meta.dirname, "../../build/npm/package.json"))("playwright-core");
export const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

export function launch() {
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"] });
}
