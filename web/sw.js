// Keeps the page for use without a network, and adds the headers that let workers share memory, for hosts that cannot
// send them. The build replaces the list and the version.

const VERSION = "development"
const FILES = ["./"]

self.addEventListener("install", (event) => {
    const store = async () => {
        const cache = await caches.open(VERSION)
        await cache.addAll(FILES.map((file) => new Request(file, { cache: "reload" })))
        await self.skipWaiting()
    }
    event.waitUntil(store())
})

self.addEventListener("activate", (event) => {
    const clean = async () => {
        // Other programs may live on the same host.
        const old = (await caches.keys()).filter((name) => name.startsWith("kiln-") && name !== VERSION)
        await Promise.all(old.map((name) => caches.delete(name)))
        await self.clients.claim()
    }
    event.waitUntil(clean())
})

self.addEventListener("fetch", (event) => {
    if (event.request.method !== "GET" || new URL(event.request.url).origin !== location.origin) return
    const answer = async () => {
        const response = (await caches.match(event.request, { ignoreSearch: true })) ?? (await fetch(event.request))
        const headers = new Headers(response.headers)
        headers.set("Cross-Origin-Opener-Policy", "same-origin")
        headers.set("Cross-Origin-Embedder-Policy", "require-corp")
        return new Response(response.body, { status: response.status, statusText: response.statusText, headers })
    }
    event.respondWith(answer())
})
