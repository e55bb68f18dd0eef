// Puts the page together: node build.js ENGINE_WASM RULES_WASM FOLDER.

import { createHash } from "node:crypto"
import { cp, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises"
import { join, relative, sep } from "node:path"

const [engine, rules, out] = process.argv.slice(2)
const here = import.meta.dirname
const board = join(here, "node_modules", "cm-chessboard")
const OWN = ["app.js", "engine.js", "icon.svg", "index.html", "kiln.js", "kiln.webmanifest", "rules.js", "shared.js",
    "style.css", "thread.js"]

await rm(out, { recursive: true, force: true })
await mkdir(out, { recursive: true })
for (const file of OWN) await cp(join(here, file), join(out, file))
await cp(engine, join(out, "engine.wasm"))
await cp(rules, join(out, "rules.wasm"))
const isUsed = (path) => !/\.(scss|map)$|staunty/.test(path)
for (const part of ["src", "assets", "LICENSE"]) {
    await cp(join(board, part), join(out, "board", part), { recursive: true, filter: isUsed })
}

// The service worker stores all files, under a name that changes with their contents.
const entries = await readdir(out, { recursive: true, withFileTypes: true })
const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)).sort()
const hash = createHash("sha256")
for (const file of files) hash.update(file).update(await readFile(file))
const list = ["./", ...files.map((file) => relative(out, file).replaceAll(sep, "/"))]
const worker = (await readFile(join(here, "sw.js"), "utf8"))
    .replace('"development"', JSON.stringify(`kiln-${hash.digest("hex").slice(0, 16)}`))
    .replace('["./"]', JSON.stringify(list))
await writeFile(join(out, "sw.js"), worker)
