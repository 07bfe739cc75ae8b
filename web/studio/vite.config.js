/* vite.config.js: the page `studio`; scripts/studio.sh copies it into build/npm/studio and builds it there. */
import { resolve } from "node:path";

const root = import.meta.dirname;

export default {
  root,
  base: "./",
  resolve: { alias: { cutis: resolve(root, "../cutis/src/index.js") } },
  build: { outDir: resolve(root, "../../studio"), emptyOutDir: true, target: "es2022", chunkSizeWarningLimit: 2000, assetsInlineLimit: 0 },
  worker: { format: "es" },
};
