/* golden.cjs THREADS: the golden program in Node. Its loader takes a path for a URL where there is fetch. */
globalThis.fetch = undefined;
require("../../build/wasm/bin/golden.js");
