// Serves a folder on this computer: node serve.js FOLDER [PORT]. The headers let workers share memory.

import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import { createServer } from "node:http"
import { extname, join, normalize } from "node:path"

const TYPES = {
    ".css": "text/css",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
}

/** Returns a server of a folder that does not listen yet. */
export function server(folder) {
    return createServer(async (request, response) => {
        let path
        try {
            path = decodeURIComponent(new URL(request.url, "http://localhost").pathname)
        } catch {
            response.writeHead(400).end("bad address\n")
            return
        }
        const file = join(folder, normalize(path.endsWith("/") ? path + "index.html" : path))
        const found = await stat(file).catch(() => null)
        if (!found?.isFile()) {
            response.writeHead(404).end("not found\n")
            return
        }
        response.writeHead(200, {
            "Content-Type": TYPES[extname(file)] ?? "application/octet-stream",
            "Content-Length": found.size,
            "Cache-Control": "no-cache",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Embedder-Policy": "require-corp",
        })
        createReadStream(file).pipe(response)
    })
}

if (import.meta.filename === process.argv[1]) {
    const [folder, port = "8000"] = process.argv.slice(2)
    if (!folder) {
        console.error("usage: node serve.js FOLDER [PORT]")
        process.exit(1)
    }
    server(folder)
        .on("error", (error) => {
            console.error(error.message)
            process.exit(1)
        })
        .listen(Number(port), "localhost", () => console.log(`Kiln is at http://localhost:${port}/ until Ctrl-C`))
}
