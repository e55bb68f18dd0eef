// The memory that the workers of an engine share.

/** The size of the ring buffer for input. */
export const INPUT_BYTES = 1 << 16

/** Indices into `control`. */
const READ = 0
const WRITTEN = 1
const THREADS = 2

/** Memory that all workers of an engine share. */
export class Shared {
    constructor(buffers) {
        this.buffers = buffers
        this.memory = buffers.memory
        this.input = new Uint8Array(buffers.input)
        this.control = new Int32Array(buffers.control)
    }

    /** Appends to the input and returns the number of bytes for which there is no room. */
    write(bytes) {
        const written = this.control[WRITTEN]
        const room = INPUT_BYTES - (written - Atomics.load(this.control, READ))
        const count = Math.min(room, bytes.length)
        for (let i = 0; i < count; i++) this.input[(written + i) & (INPUT_BYTES - 1)] = bytes[i]
        Atomics.store(this.control, WRITTEN, written + count)
        Atomics.notify(this.control, WRITTEN)
        return bytes.length - count
    }

    /** Waits for input and copies it; returns the number of bytes. */
    read(target) {
        const read = this.control[READ]
        while (Atomics.load(this.control, WRITTEN) === read) Atomics.wait(this.control, WRITTEN, read)
        const count = Math.min(Atomics.load(this.control, WRITTEN) - read, target.length)
        for (let i = 0; i < count; i++) target[i] = this.input[(read + i) & (INPUT_BYTES - 1)]
        Atomics.store(this.control, READ, read + count)
        return count
    }

    /** Returns a new number for a thread, from 1. */
    threadNumber() {
        return Atomics.add(this.control, THREADS, 1) + 1
    }
}
