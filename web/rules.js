// The rules of chess, as WebAssembly (web/src/lib.rs has the questions and answers).

const { instance } = await WebAssembly.instantiateStreaming(fetch(new URL("rules.wasm", import.meta.url)))
const { allocate, answer, answer_text, memory } = instance.exports

/** Returns the answer to a question. Throws an error with a sentence for the user if there is none. */
export function ask(what, question) {
    const bytes = new TextEncoder().encode(JSON.stringify({ ask: what, ...question }))
    const place = allocate(bytes.length)
    new Uint8Array(memory.buffer, place, bytes.length).set(bytes)
    const length = answer(place, bytes.length)
    const found = JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, answer_text(), length)))
    if (found.error) throw new Error(found.error)
    return found
}
