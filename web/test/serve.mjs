/*
 * serve.mjs: a server on 127.0.0.1 with the headers that threads need; isolated: false: without them. serve({ "/": folder,
 * "/models": folder }) gives { url, close }.
 */
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json" };

const ISOLATION = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin" };

export function serve(places, { isolated = true } = {}) {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
    const prefix = Object.keys(places).filter((one) => path.startsWith(one)).sort((a, b) => b.length - a.length)[0];
    try {
      const file = join(places[prefix], path.slice(prefix.length) || "index.html");
      const bytes = await readFile(file);
      response.writeHead(200, { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream", ...(isolated ? ISOLATION : {}) });
      response.end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve({ url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() }));
  });
}
