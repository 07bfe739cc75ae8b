/*
 * isolation.js: a service worker for hosts that send no headers for isolation, which threads need: it adds them to every answer
 * of the page's own origin.
 */
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (new URL(request.url).origin !== self.location.origin || request.method !== "GET") return;
  event.respondWith(fetch(request).then((answer) => {
    const headers = new Headers(answer.headers);
    headers.set("Cross-Origin-Opener-Policy", "same-origin");
    headers.set("Cross-Origin-Embedder-Policy", "require-corp");
    headers.set("Cross-Origin-Resource-Policy", "same-origin");
    return new Response(answer.body, { status: answer.status, statusText: answer.statusText, headers });
  }));
});
