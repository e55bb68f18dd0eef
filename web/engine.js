// Kiln as a worker. Send UCI commands with postMessage, one or several lines at a time; each line of output comes back
// as a message:
//
//     const kiln = new Worker("engine.js", { type: "module" })
//     kiln.onmessage = ({ data }) => console.log(data)
//     kiln.postMessage("go depth 12")
//
// The engine waits for input, so it runs in workers of its own: this one starts them and never waits. They share
// memory, for which the page must be cross-origin isolated (docs/web.md).

import { INPUT_BYTES, Shared } from "./shared.js"

/** The most memory for the engine, in pages of 64 KiB: the first that the browser grants. */
const MEMORY = [32768, 16384, 8192]
/** What the engine needs to start (`--initial-memory`). */
const INITIAL = 2048

const idle = []
const partial = new Map()
let waiting = new Uint8Array(0)
let shared, module

function fail(what) {
    postMessage(`info string the engine cannot run: ${what}`)
}

function memory() {
    for (const maximum of MEMORY) {
        try {
            return new WebAssembly.Memory({ initial: INITIAL, maximum, shared: true })
        } catch (error) {
            if (maximum === MEMORY.at(-1)) throw error
        }
    }
}

/** Writes what fits into the input; the rest follows later. */
function feed() {
    const rest = shared.write(waiting)
    waiting = waiting.slice(waiting.length - rest)
    if (rest > 0) setTimeout(feed, 5)
}

function send(text) {
    const bytes = new TextEncoder().encode(text.endsWith("\n") ? text : text + "\n")
    const joined = new Uint8Array(waiting.length + bytes.length)
    joined.set(waiting)
    joined.set(bytes, waiting.length)
    waiting = joined
    if (shared) feed()
}

/** Runs the program, or a thread of it, in an idle worker or a new one. */
function run(thread) {
    const worker = idle.pop() ?? new Worker(new URL("thread.js", import.meta.url), { type: "module" })
    worker.onerror = (event) => fail(event.message ?? "a thread does not load")
    worker.onmessage = ({ data }) => {
        if (data.output !== undefined) {
            const lines = ((partial.get(worker) ?? "") + data.output).split("\n")
            partial.set(worker, lines.pop())
            for (const line of lines) postMessage(line)
        } else if (data.spawn) {
            run(data.spawn)
        } else if (data.failed) {
            fail(data.failed)
        } else if (data.exit !== undefined) {
            close()
        } else {
            idle.push(worker)
        }
    }
    worker.postMessage({ module, buffers: shared.buffers, thread })
}

onmessage = ({ data }) => send(String(data))

try {
    if (!self.crossOriginIsolated) throw new Error("the page is not cross-origin isolated, so that workers cannot share memory")
    const response = await fetch(new URL("engine.wasm", import.meta.url))
    if (!response.ok) throw new Error(`engine.wasm: ${response.status} ${response.statusText}`)
    module = await WebAssembly.compileStreaming(response)
    shared = new Shared({
        memory: memory(),
        input: new SharedArrayBuffer(INPUT_BYTES),
        control: new SharedArrayBuffer(12),
    })
    run(null)
    feed()
} catch (error) {
    fail(error.message)
}
