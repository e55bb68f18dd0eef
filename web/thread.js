// Runs the engine, or one of its threads, with what it needs of WASI, the system interface of WebAssembly: standard
// input and output, clocks, random numbers and threads. It has no files.

import { Shared } from "./shared.js"

const SUCCESS = 0
const BAD_FILE = 8
const NOT_SUPPORTED = 52

class Exit extends Error {}

/** Returns the functions that the module imports. Those that it never needs answer that they are not supported. */
function system(module, shared) {
    const decoder = new TextDecoder()
    const view = () => new DataView(shared.memory.buffer)
    const bytes = (start, length) => new Uint8Array(shared.memory.buffer, start, length)
    // Calls `use` for the buffers in a list of addresses and lengths until one is not used up; returns the sum.
    const vectors = (list, count, use) => {
        let sum = 0
        for (let i = 0; i < count; i++) {
            const [start, length] = [0, 4].map((offset) => view().getUint32(list + 8 * i + offset, true))
            const used = length === 0 ? 0 : use(bytes(start, length))
            sum += used
            if (used < length) break
        }
        return sum
    }
    const none = (count, size) => {
        view().setUint32(count, 0, true)
        view().setUint32(size, 0, true)
        return SUCCESS
    }
    const nanoseconds = (clock) => {
        const milliseconds = clock === 0 ? Date.now() : performance.timeOrigin + performance.now()
        return BigInt(Math.round(milliseconds * 1e6))
    }
    const functions = {
        args_sizes_get: none,
        args_get: () => SUCCESS,
        environ_sizes_get: none,
        environ_get: () => SUCCESS,
        clock_time_get(clock, _precision, result) {
            view().setBigUint64(result, nanoseconds(clock), true)
            return SUCCESS
        },
        fd_read(file, list, count, result) {
            if (file !== 0) return BAD_FILE
            let isFirst = true
            const sum = vectors(list, count, (target) => {
                // A second buffer must not wait.
                const used = isFirst ? shared.read(target) : 0
                isFirst = false
                return used
            })
            view().setUint32(result, sum, true)
            return SUCCESS
        },
        fd_write(file, list, count, result) {
            if (file !== 1 && file !== 2) return BAD_FILE
            const sum = vectors(list, count, (source) => {
                const output = decoder.decode(source.slice())
                postMessage({ output: file === 1 ? output : output.replace(/^(?=.)/gm, "info string ") })
                return source.length
            })
            view().setUint32(result, sum, true)
            return SUCCESS
        },
        fd_fdstat_get(file, result) {
            if (file > 2) return BAD_FILE
            bytes(result, 24).fill(0)
            view().setUint8(result, 2)
            return SUCCESS
        },
        fd_prestat_get: () => BAD_FILE,
        fd_prestat_dir_name: () => BAD_FILE,
        fd_close: () => BAD_FILE,
        fd_seek: () => BAD_FILE,
        poll_oneoff(subscriptions, events, count, result) {
            // Only sleep is used: one subscription to a clock.
            const [tag, time, flags] = [
                view().getUint8(subscriptions + 8),
                view().getBigUint64(subscriptions + 24, true),
                view().getUint16(subscriptions + 40, true),
            ]
            if (count !== 1 || tag !== 0) return NOT_SUPPORTED
            const clock = view().getUint32(subscriptions + 16, true)
            const left = flags & 1 ? time - nanoseconds(clock) : time
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.max(0, Number(left) / 1e6))
            bytes(events, 32).fill(0)
            view().setBigUint64(events, view().getBigUint64(subscriptions, true), true)
            view().setUint32(result, 1, true)
            return SUCCESS
        },
        random_get(start, length) {
            const random = crypto.getRandomValues(new Uint8Array(length))
            bytes(start, length).set(random)
            return SUCCESS
        },
        sched_yield: () => SUCCESS,
        proc_exit(status) {
            postMessage({ exit: status })
            throw new Exit()
        },
        "thread-spawn"(start) {
            const number = shared.threadNumber()
            postMessage({ spawn: { number, start } })
            return number
        },
    }
    const imports = { env: { memory: shared.memory } }
    for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
        if (kind === "function") (imports[from] ??= {})[name] = functions[name] ?? (() => NOT_SUPPORTED)
    }
    return imports
}

onmessage = async ({ data: { module, buffers, thread } }) => {
    try {
        const { exports } = await WebAssembly.instantiate(module, system(module, new Shared(buffers)))
        if (thread) {
            exports.wasi_thread_start(thread.number, thread.start)
            postMessage({ idle: true })
        } else {
            exports._start()
            postMessage({ exit: 0 })
        }
    } catch (error) {
        if (!(error instanceof Exit)) postMessage({ failed: error.message })
    }
}
