/*
 * browser.mjs: Debian's Chromium, headless, as it is on a computer without a graphics card: pages are put together by the
 * processor, WebGL is drawn by SwiftShader.
 */
import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { join } from "node:path";

const { chromium } = createRequire(join(import.meta.dirname, "../../build/npm/package.json"))("playwright-core");
export const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

export function launch() {
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"] });
}
