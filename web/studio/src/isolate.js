/*
 * isolate.js: isolation of the page where its host does not give it: by a service worker, after one reload. Without one the library
 * works with one thread.
 */
const TRIED = "cutis.isolation"; // in the session: one reload, whatever came of it
const PATIENCE = 4000; // milliseconds for the worker to start

/** Whether a service worker may help, which has not been tried. */
export function isolationIsMissing() {
  return !globalThis.crossOriginIsolated && Boolean(navigator.serviceWorker) && !sessionStorage.getItem(TRIED);
}

/** Whether the page is loaded again. */
export async function isolate() {
  sessionStorage.setItem(TRIED, "1");
  try {
    await navigator.serviceWorker.register("./isolation.js");
    const patience = new Promise((_, failed) => setTimeout(() => failed(new Error("slow")), PATIENCE));
    await Promise.race([navigator.serviceWorker.ready, patience]);
    location.reload();
    return true;
  } catch {
    return false; // refused by the browser or its user
  }
}
