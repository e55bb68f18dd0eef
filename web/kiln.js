// The engine as the page sees it: one search at a time, and the last one asked for counts.

/** Parses a line of analysis: `info depth … score … pv …`. Returns null for other lines. */
export function parseInfo(line) {
    const match = line.match(/^info depth (\d+) .*?multipv (\d+) score (cp|mate) (-?\d+)( lowerbound| upperbound)?.* nodes (\d+) nps (\d+).* pv (.+)$/)
    if (!match) return null
    const [, depth, index, unit, value, bound, nodes, nps, pv] = match
    return {
        depth: Number(depth),
        index: Number(index),
        [unit]: Number(value),
        isBound: Boolean(bound),
        nodes: Number(nodes),
        nps: Number(nps),
        pv: pv.split(" "),
    }
}

export class Kiln {
    /** If the engine fails after it has been ready, `onFailure` gets the error. */
    constructor(onFailure = () => {}) {
        this.worker = new Worker(new URL("engine.js", import.meta.url), { type: "module" })
        this.current = null
        this.next = null
        this.worker.onmessage = ({ data }) => this.receive(data)
        this.ready = new Promise((resolve, reject) => {
            this.resolveReady = () => {
                this.fail = onFailure
                resolve()
            }
            this.fail = reject
        })
        this.worker.onerror = (event) => this.fail(new Error(event.message ?? "the engine does not load"))
        this.send("uci\nisready")
    }

    send(text) {
        this.worker.postMessage(text)
    }

    receive(line) {
        if (line === "readyok") this.resolveReady()
        if (line.startsWith("info string the engine cannot run")) this.fail(new Error(line.slice(12)))
        const info = parseInfo(line)
        if (info && this.current && !this.next && !this.isStopped) this.current.onInfo?.(info)
        if (line.startsWith("bestmove ")) {
            const done = this.current
            this.current = null
            if (this.next) this.start(this.next)
            else if (!this.isStopped) done?.onBest?.(line.split(" ")[1])
        }
    }

    /** Searches: `setup` are commands, `go` the search. Ends the search before, of which nothing more is heard. */
    search(search) {
        if (this.current) {
            this.next = search
            this.send("stop")
        } else {
            this.start(search)
        }
    }

    start(search) {
        this.current = search
        this.next = null
        this.isStopped = false
        this.send([...search.setup, search.go].join("\n"))
    }

    /** Ends the search, of which nothing more is heard. */
    stop() {
        this.next = null
        if (this.current) {
            this.isStopped = true
            this.send("stop")
        }
    }
}
