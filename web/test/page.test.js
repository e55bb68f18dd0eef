// The page in headless Chromium: node --test web/test. CHROMIUM names the browser, SCREENSHOTS a folder for pictures.

import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { after, before, beforeEach, test } from "node:test"
import { chromium } from "playwright-core"
import { server } from "../serve.js"

const SIGNATURE = process.env.SIGNATURE
const SCREENSHOTS = process.env.SCREENSHOTS
const FOLDER = join(import.meta.dirname, "..", "..", "target", "web")

let browser, web, url, page, errors

async function listen() {
    web = server(FOLDER)
    await new Promise((resolve) => web.listen(url ? new URL(url).port : 0, "localhost", resolve))
    url = `http://localhost:${web.address().port}/`
}

before(async () => {
    assert(existsSync(join(FOLDER, "engine.wasm")), "make web has not run")
    await listen()
    browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
        args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync"],
    })
})

after(async () => {
    await browser?.close()
    web?.close()
})

beforeEach(async () => {
    await page?.context().close()
    await open({ viewport: { width: 1200, height: 860 } })
})

async function open(options) {
    const context = await browser.newContext(options)
    page = await context.newPage()
    errors = []
    page.on("pageerror", (error) => errors.push(error.message))
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()))
    await page.goto(url)
    await status(/to move/)
}

async function status(pattern, timeout = 20_000) {
    await page.waitForFunction((source) => new RegExp(source).test(document.querySelector("#status").textContent), pattern.source, { timeout })
}

async function newGame(choices = {}) {
    await page.click("#new")
    for (const [id, value] of Object.entries(choices)) {
        if (id === "color") await page.check(`input[value="${value}"]`)
        else if (id === "level") await page.fill("#level", String(value))
        else if (id === "number") await page.fill("#number", String(value))
        else await page.selectOption(`#${id}`, value)
    }
    await page.click('#new-form button[value="start"]')
}

async function setUp(fen) {
    await page.evaluate(() => (document.querySelector("details").open = true))
    await page.fill("#fen", fen)
    await page.press("#fen", "Enter")
}

async function move(text) {
    await page.fill("#move-text", text)
    await page.press("#move-text", "Enter")
}

/** Returns the middle of a square of the board. */
async function middle(square) {
    const box = await page.locator(`#board .square[data-square="${square}"]`).boundingBox()
    return [box.x + box.width / 2, box.y + box.height / 2]
}

async function click(...squares) {
    for (const square of squares) await page.mouse.click(...(await middle(square)))
}

const moves = () => page.locator("#moves button").allTextContents()

/** Waits until the game has these moves. */
async function played(expected, why = "") {
    const isPlayed = (text) => [...document.querySelectorAll("#moves button")].map((move) => move.textContent).join(" ") === text
    await page.waitForFunction(isPlayed, expected.join(" "), { timeout: 5000 }).catch(() => {})
    assert.deepEqual(await moves(), expected, why)
}

const fen = () => page.inputValue("#fen")

/** Takes a picture when the pieces have come to rest. */
async function shot(name) {
    if (!SCREENSHOTS) return
    await page.waitForTimeout(500)
    await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true })
}

const quiet = () => assert.deepEqual(errors, [])

/** Runs the engine alone until a line matches, and returns all lines. */
const engine = (commands, last) =>
    page.evaluate(async ([commands, last]) => {
        const worker = new Worker("engine.js", { type: "module" })
        const lines = []
        const done = new Promise((resolve) => {
            worker.onmessage = ({ data }) => {
                lines.push(data)
                if (new RegExp(last).test(data)) resolve()
            }
        })
        for (const [command, delay] of commands) {
            worker.postMessage(command)
            await new Promise((resolve) => setTimeout(resolve, delay))
        }
        await done
        worker.terminate()
        return lines
    }, [commands, last.source])

test("the bench signature is that of other builds", async (t) => {
    const lines = await engine([["bench", 0]], /^\d+ nodes \d+ nps$/)
    const [nodes, , speed] = lines.at(-1).split(" ")
    t.diagnostic(`${speed} nodes/s`)
    if (SIGNATURE) assert.equal(nodes, SIGNATURE)
    assert(Number(nodes) > 100_000)
})

test("the engine speaks UCI and answers while it searches", async () => {
    const lines = await engine(
        [["uci", 100], ["setoption name Threads value 2\nposition startpos moves e2e4", 0], ["go infinite", 500], ["isready", 300], ["stop", 0]],
        /^bestmove /,
    )
    assert(lines.includes("uciok"))
    assert(lines.indexOf("readyok") < lines.length - 1, "readyok comes before the end of the search")
    assert(lines.some((line) => /^info depth \d+ .* pv /.test(line)))
    const limits = await engine([["setoption name Hash value 4096\ngo nodes 1000", 0]], /^bestmove /)
    assert(limits.some((line) => line.includes("512")), limits.join("\n"))
    const file = await engine([["setoption name EvalFile value x.nnue\ngo nodes 10", 0]], /^bestmove /)
    assert(file.some((line) => line.startsWith("info string") && line.includes("x.nnue")), file.join("\n"))
    quiet()
})

test("a game from the first move to its end", async () => {
    await newGame({ level: 11 })
    // The king walks out, so that it loses soon.
    for (const text of ["f3", "e4", "Kf2", "Ke3", "Kd4", "Kc5"]) {
        await status(/Your move|:/)
        if (/:/.test(await page.textContent("#status"))) break
        await move(text)
    }
    for (let ply = 0; ply < 300; ply++) {
        await page.waitForFunction(() => /Your move|:/.test(document.querySelector("#status").textContent), null, { timeout: 20_000 })
        if (/:/.test(await page.textContent("#status"))) break
        const [legal] = await page.evaluate(async (fen) => {
            const { ask } = await import("./rules.js")
            const { legal } = ask("game", { fen })
            return [legal[Math.floor(Math.random() * legal.length)].uci]
        }, await fen())
        await move(legal)
    }
    await status(/^(Black wins|Draw): /)
    assert.match(await page.textContent("#moves"), /0-1|½–½/)
    assert.match(await page.inputValue("#pgn"), /\[Black "Kiln"\]\n\[Result "(0-1|1\/2-1\/2)"\]/)
    await shot("game")
    quiet()
})

test("moves by mouse, a mate, take back", async () => {
    await setUp("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1")
    await click("d1", "d8")
    await status(/White wins: checkmate \(1-0\)/)
    await played(["Rd8#"])
    await shot("mate")
    await page.click("#takeback")
    await status(/White to move/)
    await click("d1", "h5")
    await played([])
    quiet()
})

test("promotions ask for the piece", async () => {
    await setUp("8/P6k/8/8/8/8/8/K7 w - - 0 1")
    await click("a7", "a8")
    const rook = page.locator('[data-piece="wr"].promotion-dialog-button')
    await rook.click()
    await played(["a8=R"])
    quiet()
})

test("analysis finds a mate and shows lines", async () => {
    await setUp("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4")
    await page.check("#analyse")
    await page.waitForFunction(() => /#1/.test(document.querySelector("#lines")?.textContent))
    assert.match(await page.textContent("#lines"), /#14\. Qxf7#/)
    await setUp("")
    await page.waitForFunction(() => document.querySelectorAll("#lines li").length === 3)
    await page.waitForFunction(() => /Depth 1\d/.test(document.querySelector("#search").textContent))
    await shot("analysis")
    await page.selectOption("#line-count", "5")
    await page.waitForFunction(() => document.querySelectorAll("#lines li").length === 5)
    await page.uncheck("#analyse")
    await page.waitForFunction(() => document.querySelectorAll("#lines li").length === 0)
    // The box still has the focus.
    await page.keyboard.press("a")
    assert(await page.isChecked("#analyse"))
    quiet()
})

test("PGN and FEN go in and out", async () => {
    await page.click("summary")
    const text = '[White "Morphy"]\n[Black "Duke"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 d6 {a comment} 3. d4 Bg4 (3... exd4) 4. dxe5 Bxf3 1-0'
    await page.fill("#pgn", text)
    await page.click('#pgn-form button:has-text("Load")')
    await played(["e4", "e5", "Nf3", "d6", "d4", "Bg4", "dxe5", "Bxf3"])
    assert.equal(await page.textContent("#bottom-name"), "Morphy")
    const written = await page.inputValue("#pgn")
    assert.match(written, /\[White "Morphy"\]\n\[Black "Duke"\]\n\[Result "1-0"\]\n\n1\. e4 e5 2\. Nf3 d6 3\. d4 Bg4 4\. dxe5 Bxf3 1-0\n/)
    await page.fill("#pgn", written)
    await page.click('#pgn-form button:has-text("Load")')
    assert.equal(await page.inputValue("#pgn"), written)
    for (const [id, bad, message] of [["pgn", "1. e4 e4", "not a legal move"], ["pgn", "", "no game"], ["fen", "8/8/8 w", "bad"]]) {
        await page.fill(`#${id}`, bad)
        await page.click(`#${id}-form button:not([type="button"])`)
        assert((await page.textContent("#message")).includes(message), message)
        assert.deepEqual((await moves()).length, 8, "the game stays")
    }
    quiet()
})

test("a loaded game that goes on has a result of its own", async () => {
    await page.click("summary")
    await page.fill("#pgn", '[Result "*"]\n[Termination "unterminated"]\n\n1. f3 e5 2. g4 *')
    await page.click('#pgn-form button:has-text("Load")')
    await move("Qh4")
    await status(/Black wins/)
    assert.match(await page.inputValue("#pgn"), /\[Result "0-1"\]\n\n1\. f3 e5 2\. g4 Qh4# 0-1\n$/)
    await page.click("#takeback")
    assert.match(await page.inputValue("#pgn"), /\[Result "\*"\]\n\n1\. f3 e5 2\. g4 \*\n$/)
    quiet()
})

test("Chess960: castling by mouse and by the engine's notation", async () => {
    await newGame({ start: "number", number: 959, color: "w" })
    assert.match(await fen(), /^rkrnnqbb\/.* w CAca - 0 1$/)
    assert.match(await page.inputValue("#pgn"), /\[Variant "Chess960"\]/)
    await setUp("4k3/8/8/8/8/8/8/1RK5 w B - 0 1")
    await click("c1", "b1")
    await played(["O-O-O"])
    assert.match(await fen(), /^4k3\/8\/8\/8\/8\/8\/8\/2KR4 b/)
    quiet()
})

test("the engine opens, clocks run, and time runs out", async () => {
    await newGame({ color: "b", control: "60+0", level: 0 })
    await status(/Your move/)
    assert.equal((await moves()).length, 1)
    await page.waitForFunction(() => document.querySelector("#bottom-clock.running"))
    const seconds = async () => page.textContent("#bottom-clock")
    const first = await seconds()
    await page.waitForTimeout(1200)
    assert.notEqual(await seconds(), first)
    await move("a6")
    await page.waitForFunction(() => document.querySelectorAll("#moves button").length === 3)
    await status(/Your move/)
    await page.evaluate(() => {
        const now = performance.now.bind(performance)
        performance.now = () => now() + 61_000
    })
    await status(/White wins: Black is out of time/)
    // Back without the clock that has run out.
    await page.click("#takeback")
    await status(/Your move/)
    assert.equal((await moves()).length, 1)
    assert(!(await page.isVisible("#bottom-clock")))
    quiet()
})

test("the engine moves while the user looks at earlier positions", async () => {
    await page.evaluate(() => {
        const post = Worker.prototype.postMessage
        window.searches = 0
        Worker.prototype.postMessage = function (text) {
            window.searches += /^go /m.test(text)
            post.call(this, text)
        }
    })
    // At full strength it thinks for longer than the keys take.
    await newGame({ color: "w", control: "60+0", level: 11 })
    await click("e2", "e4")
    await status(/Kiln is thinking/)
    await page.evaluate(() => document.activeElement.blur())
    for (const key of ["End", "ArrowLeft", "ArrowRight", "ArrowLeft"]) await page.keyboard.press(key)
    await status(/Kiln is thinking/)
    await page.waitForFunction(() => document.querySelectorAll("#moves button").length === 2)
    await status(/Your move/)
    assert.equal(await page.evaluate(() => window.searches), 1)
    quiet()
})

test("a bad position leaves the game as it is", async () => {
    await newGame({ color: "b", control: "60+0", level: 0 })
    await status(/Your move/)
    await page.waitForFunction(() => document.querySelector("#bottom-clock.running"))
    await setUp("8/8/8 w")
    assert.equal(await page.isVisible("#message"), true)
    assert.equal((await moves()).length, 1)
    assert(await page.$("#bottom-clock.running"))
    quiet()
})

test("by keyboard alone", async () => {
    await page.keyboard.press("m")
    await page.keyboard.type("e4")
    await page.keyboard.press("Enter")
    await page.keyboard.type("e7e5")
    await page.keyboard.press("Enter")
    await page.keyboard.type("Ke3")
    await page.keyboard.press("Enter")
    assert.match(await page.textContent("#message"), /"Ke3" is not a legal move/)
    await played(["e4", "e5"])
    await page.evaluate(() => document.activeElement.blur())
    await page.keyboard.press("ArrowLeft")
    await page.keyboard.press("ArrowLeft")
    await page.keyboard.press("ArrowRight")
    assert.equal(await page.textContent('#moves [aria-current="true"]'), "e4")
    await page.keyboard.press("f")
    assert.equal(await page.textContent("#bottom-name"), "Black")
    await page.keyboard.press("n")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Escape")
    await page.waitForSelector("#new-dialog", { state: "hidden" })
    await played(["e4", "e5"], "nothing is lost")
    await page.keyboard.press("n")
    await page.keyboard.press("Enter")
    await status(/Your move/)
    await played([])
    quiet()
})

test("on a phone", async () => {
    await page.context().close()
    await open({ viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, colorScheme: "dark" })
    await newGame({ level: 2 })
    await status(/Your move/)
    for (const square of ["e2", "e4"]) await page.touchscreen.tap(...(await middle(square)))
    await page.waitForFunction(() => document.querySelectorAll("#moves button").length === 2)
    const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
    assert(width <= window, `${width} of ${window}`)
    await shot("phone")
    quiet()
})

test("a bad address is refused", async () => {
    assert.equal((await fetch(url + "%ff")).status, 400)
})

test("without a network after the first load", async () => {
    await page.evaluate(() => navigator.serviceWorker.ready)
    await page.waitForFunction(() => navigator.serviceWorker.controller)
    web.closeAllConnections()
    await new Promise((resolve) => web.close(resolve))
    try {
        await page.reload()
        await status(/White to move/)
        await newGame({ color: "b", level: 0 })
        await status(/Your move/)
        assert.equal((await moves()).length, 1)
        quiet()
    } finally {
        await listen()
    }
})
