// The page: a game or an analysis on one board.

import { Chessboard, INPUT_EVENT_TYPE } from "./board/src/Chessboard.js"
import { Accessibility } from "./board/src/extensions/accessibility/Accessibility.js"
import { ARROW_TYPE, Arrows } from "./board/src/extensions/arrows/Arrows.js"
import { MARKER_TYPE, Markers } from "./board/src/extensions/markers/Markers.js"
import { PromotionDialog } from "./board/src/extensions/promotion-dialog/PromotionDialog.js"
import { Kiln } from "./kiln.js"
import { ask } from "./rules.js"

const $ = (id) => document.getElementById(id)

/** The last level is full strength. */
const LEVELS = [400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2500, null]
/** Milliseconds for a move without a clock. */
const MOVE_TIME = 1000
const OTHER = { w: "b", b: "w" }
const NAMES = { w: "White", b: "Black" }

/** The moves are in UCI notation from `fen`, or the starting position. `at` is the number of moves before the position
 * on the board. `color` is the user's, or null if the engine does not play. */
let game = { fen: null, chess960: false, moves: [], at: 0, color: null, level: null, tags: {}, over: null, clock: null }
/** What the rules say of the position on the board. */
let shown
/** The best lines by their numbers from 1, and the position that they are for. */
let analysis = { fen: null, lines: [] }
/** The color at the bottom of the board. */
let bottom = "w"
let isReady = false
let hasFailed = false
let isThinking = false

const kiln = new Kiln(fail)
const board = new Chessboard($("board"), {
    assetsUrl: new URL("board/assets/", document.baseURI).href,
    style: { animationDuration: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 200 },
    extensions: [
        { class: Markers, props: { autoMarkers: null } },
        { class: Arrows },
        { class: PromotionDialog, props: { language: "en" } },
        { class: Accessibility, props: { language: "en", keyboardMoveInput: true, movePieceForm: false } },
    ],
})

const question = (at = game.moves.length) => ({ fen: game.fen, chess960: game.chess960, moves: game.moves.slice(0, at) })
const isAtEnd = () => game.at === game.moves.length
const isUsersTurn = () => !game.over && (game.color === null || shown.side === game.color) && (isAtEnd() || game.color === null)
const isEnginesTurn = () => game.color !== null && !game.over && isAtEnd() && shown.side !== game.color

function complain(error) {
    $("message").textContent = error ? (error.message ?? error) : ""
    $("message").hidden = !error
}

/** Runs what may fail because of what the user has entered, and shows the reason. */
function attempt(action) {
    complain(null)
    try {
        action()
    } catch (error) {
        complain(error)
    }
}

// The game.

function play(uci) {
    const described = ask("game", { ...question(game.at), moves: [...question(game.at).moves, uci] })
    const mover = game.clock?.running
    stopClock()
    if (mover) game.clock.left[mover] += game.clock.increment
    game.moves = described.moves.map((move) => move.uci)
    game.at = game.moves.length
    // A game that was loaded goes on.
    delete game.tags.Termination
    if (described.status) end(described.result, described.status)
    update()
    if (!game.over) startClock()
    go()
}

function end(result, reason) {
    stopClock()
    kiln.stop()
    isThinking = false
    game.over = { result, reason }
}

function browse(at) {
    game.at = Math.max(0, Math.min(game.moves.length, at))
    update()
    go()
}

function takeBack() {
    // To the user's last move; a game that was over goes on.
    let count = game.moves.length - 1
    if (game.color !== null && ask("game", question(count)).side !== game.color) count--
    if (count < 0) return
    stopClock()
    Object.assign(game, { moves: game.moves.slice(0, count), at: count, over: null })
    delete game.tags.Termination
    // Without the clock, if it has run out.
    if (game.clock && Math.min(game.clock.left.w, game.clock.left.b) <= 0) game.clock = null
    update()
    startClock()
    go()
}

function setUp(changes) {
    const next = { fen: null, chess960: false, moves: [], at: 0, color: null, level: null, tags: {}, over: null, clock: null, ...changes }
    // If the position or a move is bad, the game goes on.
    const described = ask("game", { fen: next.fen, chess960: next.chess960, moves: next.moves })
    if (described.status) next.over ??= { result: described.result, reason: described.status }
    kiln.stop()
    isThinking = false
    game = { ...next, chess960: described.chess960 }
    analysis = { fen: null, lines: [] }
    kiln.send("ucinewgame")
    update()
    go()
}

// The clock.

function timeLeft(side) {
    const clock = game.clock
    return clock.left[side] - (clock.running === side ? performance.now() - clock.since : 0)
}

function stopClock() {
    const clock = game.clock
    if (!clock?.running) return
    const side = clock.running
    clock.left[side] = timeLeft(side)
    clock.running = null
}

/** The clock runs from the first move on. */
function startClock() {
    if (game.clock && !game.over && game.moves.length > 0) Object.assign(game.clock, { running: shown.side, since: performance.now() })
    drawClocks()
}

function formatTime(milliseconds) {
    const seconds = Math.max(0, milliseconds) / 1000
    const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60]
    return seconds < 20 ? `0:${rest.toFixed(1).padStart(4, "0")}` : `${minutes}:${String(Math.floor(rest)).padStart(2, "0")}`
}

function drawClocks() {
    for (const [place, side] of [["bottom", bottom], ["top", OTHER[bottom]]]) {
        const clock = $(`${place}-clock`)
        clock.hidden = !game.clock
        if (!game.clock) continue
        clock.textContent = formatTime(timeLeft(side))
        clock.classList.toggle("running", game.clock.running === side)
    }
}

setInterval(() => {
    const side = game.clock?.running
    if (!side) return
    if (timeLeft(side) <= 0) {
        end(side === "w" ? "0-1" : "1-0", `${NAMES[side]} is out of time`)
        update()
    }
    drawClocks()
}, 100)

// The engine.

/** Shows that the engine does not run, or no longer. */
function fail(error) {
    hasFailed = true
    isReady = isThinking = false
    updateStatus()
    complain(error)
}

/** Starts what the engine should do in this position: its move, analysis, or nothing. */
function go() {
    // It thinks on wherever the user looks.
    if (isThinking && (!isAtEnd() || isEnginesTurn())) return updateStatus()
    const isAnalysing = $("analyse").checked && !isEnginesTurn()
    isThinking = isReady && isEnginesTurn()
    if (!isReady || (!isThinking && !isAnalysing) || shown.legal.length === 0) {
        kiln.stop()
        updateStatus()
        return
    }
    const played = question(game.at)
    const setup = [
        `setoption name UCI_Chess960 value ${game.chess960}`,
        `setoption name MultiPV value ${isThinking ? 1 : $("line-count").value}`,
        `setoption name UCI_LimitStrength value ${isThinking && game.level !== null}`,
        ...(isThinking && game.level !== null ? [`setoption name UCI_Elo value ${game.level}`] : []),
        `position ${game.fen ? `fen ${game.fen}` : "startpos"}${played.moves.length ? ` moves ${played.moves.join(" ")}` : ""}`,
    ]
    const { fen, side } = shown
    analysis = { fen, side, lines: [] }
    const clock = game.clock
    const limits = clock
        ? `wtime ${Math.round(timeLeft("w"))} btime ${Math.round(timeLeft("b"))} winc ${clock.increment} binc ${clock.increment}`
        : `movetime ${MOVE_TIME}`
    kiln.search({
        setup,
        go: isThinking ? `go ${limits}` : "go infinite",
        onInfo(info) {
            if (info.isBound) return
            analysis.lines[info.index - 1] = info
            analysis.latest = info
            requestDraw()
        },
        onBest: isThinking ? (best) => { game.at = game.moves.length; play(best) } : undefined,
    })
    updateStatus()
}

let isDrawRequested = false
function requestDraw() {
    if (isDrawRequested) return
    isDrawRequested = true
    setTimeout(() => {
        isDrawRequested = false
        drawAnalysis()
    }, 120)
}

/** Returns a score from White's point of view as text. */
function scoreText({ cp, mate }, side) {
    const sign = side === "w" ? 1 : -1
    if (mate !== undefined) return `${mate * sign < 0 ? "−" : ""}#${Math.abs(mate)}`
    const pawns = (cp * sign) / 100
    return `${pawns < 0 ? "−" : "+"}${Math.abs(pawns).toFixed(2)}`
}

function drawAnalysis() {
    const isCurrent = analysis.fen === shown.fen
    const lines = isCurrent ? analysis.lines.filter(Boolean) : []
    const { latest, side } = analysis
    if (isCurrent && latest) {
        const speed = latest.nps >= 1e6 ? `${(latest.nps / 1e6).toFixed(1)} M` : `${Math.round(latest.nps / 1e3)} k`
        $("search").textContent = `Depth ${latest.depth}, ${speed} nodes/s`
    } else {
        $("search").textContent = "Shows what the engine thinks of the position on the board."
    }
    const isShown = $("analyse").checked && !isThinking
    $("lines").replaceChildren(...(isShown ? lines : []).map((line) => {
        const item = document.createElement("li")
        const [score, text] = [document.createElement("b"), document.createElement("span")]
        score.textContent = scoreText(line, side)
        text.textContent = text.title = numbered(line.pv.slice(0, 16))
        item.append(score, text)
        return item
    }))
    board.removeArrows()
    if (lines.length) {
        drawBar(lines[0], side)
        const best = isShown && shown.legal.find((move) => move.uci === lines[0].pv[0])
        if (best) board.addArrow(ARROW_TYPE.secondary, best.from, best.targets.at(-1))
    }
}

/** Returns moves from the position on the board in standard algebraic notation, with numbers. */
function numbered(moves) {
    const { first, moves: described } = ask("game", { fen: shown.fen, chess960: game.chess960, moves })
    const start = 2 * first.number + (first.side === "b")
    const words = described.map(({ san }, i) => {
        const ply = start + i
        const number = ply % 2 === 0 ? `${ply / 2}. ` : i === 0 ? `${(ply - 1) / 2}… ` : ""
        return number + san
    })
    return words.join(" ")
}

function drawBar(line, side) {
    const sign = side === "w" ? 1 : -1
    const share = line.mate !== undefined ? (line.mate * sign > 0 ? 1 : 0) : 1 / (1 + Math.exp((-line.cp * sign) / 250))
    setBar(share, line.mate !== undefined ? `#${Math.abs(line.mate)}` : Math.abs(line.cp / 100).toFixed(1), scoreText(line, side))
}

/** `share` is White's. */
function setBar(share, text, label) {
    const isTurned = bottom === "b"
    $("bar-white").style.height = `${100 * Math.max(0.03, Math.min(0.97, share))}%`
    $("bar-text").textContent = text
    $("bar").classList.toggle("turned", isTurned)
    $("bar").classList.toggle("top-text", (share < 0.5) !== isTurned)
    $("bar").classList.toggle("light-text", share < 0.5)
    $("bar").setAttribute("aria-label", `Evaluation ${label}`)
}

// What is on the page.

function updateStatus() {
    let text
    if (game.over) {
        const { result, reason } = game.over
        const winner = { "1-0": "White wins", "0-1": "Black wins", "1/2-1/2": "Draw" }[result]
        text = winner ? `${winner}: ${reason} (${result.replace("1/2-1/2", "½–½")})` : reason
    } else if (hasFailed) {
        text = "The engine does not run"
    } else if (!isReady) {
        text = "Loading the engine …"
    } else if (isThinking) {
        text = "Kiln is thinking …"
    } else if (game.color !== null && isAtEnd()) {
        text = shown.check ? "Check. Your move" : "Your move"
    } else {
        text = `${NAMES[shown.side]} to move${shown.check ? ", in check" : ""}`
    }
    if ($("status").textContent !== text) $("status").textContent = text
}

function drawMoves(described) {
    const { first, moves } = described
    const cells = []
    const number = (ply) => {
        const cell = document.createElement("span")
        cell.textContent = `${Math.floor(ply / 2)}.`
        cells.push(cell)
    }
    let ply = 2 * first.number + (first.side === "b")
    if (ply % 2 === 1 && moves.length) {
        number(ply)
        const gap = document.createElement("span")
        gap.textContent = "…"
        cells.push(gap)
    }
    for (const [i, { san }] of moves.entries()) {
        if (ply % 2 === 0) number(ply)
        const button = document.createElement("button")
        button.textContent = san
        button.tabIndex = -1
        if (i + 1 === game.at) button.setAttribute("aria-current", "true")
        button.onclick = () => browse(i + 1)
        cells.push(button)
        ply++
    }
    if (game.over) {
        const end = document.createElement("p")
        end.textContent = `${game.over.result.replace("1/2-1/2", "½–½")}  ${game.over.reason}`
        cells.push(end)
    }
    $("moves").replaceChildren(...cells)
    const current = $("moves").querySelector("[aria-current]")
    if (current) {
        // Only this list scrolls, not the page.
        const [top, height] = [current.offsetTop - $("moves").offsetTop, $("moves").clientHeight]
        $("moves").scrollTop = top - height / 2
    } else {
        $("moves").scrollTop = 0
    }
}

function playerName(side) {
    if (game.tags[NAMES[side]]) return game.tags[NAMES[side]]
    if (game.color === null) return NAMES[side]
    return side === game.color ? "You" : game.level === null ? "Kiln" : `Kiln, level ${game.level}`
}

function update() {
    const all = ask("game", question())
    shown = isAtEnd() ? all : ask("game", question(game.at))
    board.setPosition(shown.fen, true)
    board.removeMarkers()
    const last = shown.moves.at(-1)
    if (last) for (const square of [last.from, last.targets[0]]) board.addMarker(MARKER_TYPE.square, square)
    if (shown.check) board.addMarker(MARKER_TYPE.circleDangerFilled, shown.check)
    board.disableMoveInput()
    if (isUsersTurn() && shown.legal.length) board.enableMoveInput(onInput, shown.side)
    $("bottom-name").textContent = playerName(bottom)
    $("top-name").textContent = playerName(OTHER[bottom])
    drawMoves(all)
    drawClocks()
    drawAnalysis()
    if (game.over && isAtEnd() && game.over.result !== "*") {
        const share = { "1-0": 1, "0-1": 0 }[game.over.result] ?? 0.5
        setBar(share, "", game.over.result)
    }
    $("fen").value = shown.fen
    $("pgn").value = pgn()
    $("takeback").disabled = game.moves.length === 0
    $("resign").disabled = game.color === null || Boolean(game.over)
    for (const id of ["first", "previous"]) $(id).disabled = game.at === 0
    for (const id of ["next", "last"]) $(id).disabled = isAtEnd()
    updateStatus()
}

function pgn() {
    const today = new Date()
    const date = [today.getFullYear(), today.getMonth() + 1, today.getDate()].map((part) => String(part).padStart(2, "0")).join(".")
    const own = game.color === null ? {} : {
        Event: "Game against Kiln",
        Date: date,
        [NAMES[game.color]]: "You",
        [NAMES[OTHER[game.color]]]: playerName(OTHER[game.color]),
        ...(game.clock ? { TimeControl: game.clock.control } : {}),
    }
    return ask("write", { ...question(), tags: { ...own, ...game.tags }, result: game.over?.result ?? "*" }).text
}

// Input.

function onInput(event) {
    const moves = shown.legal.filter((move) => move.from === event.squareFrom)
    if (event.type === INPUT_EVENT_TYPE.moveInputStarted) {
        for (const target of new Set(moves.map((move) => move.targets.at(-1)))) board.addMarker(MARKER_TYPE.dot, target)
        return moves.length > 0
    }
    if (event.type === INPUT_EVENT_TYPE.moveInputCanceled || event.type === INPUT_EVENT_TYPE.moveInputFinished) {
        board.removeMarkers(MARKER_TYPE.dot)
        return true
    }
    if (event.type !== INPUT_EVENT_TYPE.validateMoveInput) return true
    // A king's own move comes before castling, for which the rook's square also stands.
    const to = (move) => move.targets.indexOf(event.squareTo)
    const found = moves.filter((move) => to(move) >= 0).sort((a, b) => a.targets.length - b.targets.length)
    if (found.length === 0) return false
    if (found[0].promotion) {
        board.showPromotionDialog(event.squareTo, shown.side, (result) => {
            const chosen = found.find((move) => move.promotion === result?.piece?.charAt(1))
            if (chosen && isUsersTurn()) attempt(() => play(chosen.uci))
            else update()
        })
    } else {
        // The board finishes its own move first.
        setTimeout(() => attempt(() => play(found[0].uci)))
    }
    return true
}

$("move-form").onsubmit = (event) => {
    event.preventDefault()
    const text = $("move-text").value.trim()
    if (!text) return
    attempt(() => {
        if (!isUsersTurn()) throw new Error(game.over ? "The game is over." : isAtEnd() ? "It is not your move." : "Go to the last position to play on.")
        play(text)
        $("move-text").value = ""
    })
}

function orient(color) {
    bottom = color
    board.setOrientation(color)
}

function turn() {
    orient(OTHER[bottom])
    update()
}

function copy(text) {
    navigator.clipboard.writeText(text).catch(() => complain("The browser does not allow copying."))
}

$("flip").onclick = turn
$("takeback").onclick = () => attempt(takeBack)
$("resign").onclick = () => {
    end(game.color === "w" ? "0-1" : "1-0", `${NAMES[game.color]} resigns`)
    update()
    go()
}
$("first").onclick = () => browse(0)
$("previous").onclick = () => browse(game.at - 1)
$("next").onclick = () => browse(game.at + 1)
$("last").onclick = () => browse(game.moves.length)
$("analyse").onchange = () => {
    go()
    drawAnalysis()
}
$("line-count").onchange = () => go()
$("fen-form").onsubmit = (event) => {
    event.preventDefault()
    attempt(() => setUp({ fen: $("fen").value.trim() || null }))
}
$("fen-copy").onclick = () => copy($("fen").value)
$("pgn-form").onsubmit = (event) => {
    event.preventDefault()
    attempt(() => load($("pgn").value))
}
$("pgn-copy").onclick = () => copy($("pgn").value)
$("pgn-open").onclick = () => $("pgn-file").click()
$("pgn-file").onchange = async () => {
    const text = await $("pgn-file").files[0]?.text()
    $("pgn-file").value = ""
    if (text !== undefined) attempt(() => load(text))
}
$("pgn-save").onclick = () => {
    const link = document.createElement("a")
    link.href = URL.createObjectURL(new Blob([$("pgn").value], { type: "application/x-chess-pgn" }))
    link.download = "kiln.pgn"
    link.click()
    URL.revokeObjectURL(link.href)
}

/** Loads a game to look at. */
function load(text) {
    const { fen, chess960, moves, tags, result } = ask("read", { text })
    const ended = result && result !== "*" ? { result, reason: tags.Termination ?? "the game's result" } : null
    const described = ask("game", { fen, chess960, moves })
    const over = described.status ? { result: described.result, reason: described.status } : ended
    setUp({ fen, chess960, moves, at: moves.length, tags, over })
}

const levelText = () => {
    const level = LEVELS[$("level").value]
    $("level-text").textContent = level === null ? "full strength" : `about ${level} Elo`
}
$("level").oninput = levelText
$("start").onchange = () => {
    const isNumber = $("start").value === "number"
    // Browsers check hidden fields too, but not disabled ones.
    $("number").disabled = $("number").hidden = $("number-label").hidden = !isNumber
}
$("new").onclick = () => $("new-dialog").showModal()
$("new-form").onsubmit = (event) => {
    if (event.submitter?.value !== "start") return
    attempt(() => {
        const choice = new FormData($("new-form")).get("color")
        const color = choice === "random" ? "wb"[Math.floor(2 * Math.random())] : choice
        const start = $("start").value
        let fen = null
        if (start === "current") {
            fen = shown.fen
        } else if (start !== "standard") {
            fen = ask("chess960", { number: start === "random" ? Math.floor(960 * Math.random()) : Number($("number").value) }).fen
        }
        const control = $("control").value
        const [seconds, increment] = control.split("+").map(Number)
        const clock = control
            ? { control, increment: 1000 * increment, left: { w: 1000 * seconds, b: 1000 * seconds }, running: null, since: 0 }
            : null
        $("analyse").checked = false
        orient(color)
        setUp({ fen, chess960: start === "random" || start === "number" || (start === "current" && game.chess960), color, level: LEVELS[$("level").value], clock })
    })
}

document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input:not([type=checkbox]), textarea, select, dialog, #board")
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    const action = {
        ArrowLeft: () => browse(game.at - 1),
        ArrowRight: () => browse(game.at + 1),
        Home: () => browse(0),
        End: () => browse(game.moves.length),
        f: turn,
        n: () => $("new").click(),
        a: () => $("analyse").click(),
        m: () => $("move-text").focus(),
    }[event.key]
    if (action) {
        event.preventDefault()
        action()
    }
})

// The start.

levelText()
update()
try {
    await kiln.ready
    isReady = true
    go()
} catch (error) {
    fail(error)
}
if ("serviceWorker" in navigator) {
    const registration = navigator.serviceWorker.register("sw.js")
    // A host without the headers: the service worker adds them from the next load on.
    if (!crossOriginIsolated) {
        await registration
        await navigator.serviceWorker.ready
        if (!sessionStorage.getItem("reloaded")) {
            sessionStorage.setItem("reloaded", "1")
            location.reload()
        }
    }
}
