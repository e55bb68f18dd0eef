//! Checks the processor before the standard library's start-up code runs: prints the message and exits if a feature is
//! missing.

use crate::cpu::{MESSAGE, REQUIRED, Words};

std::arch::global_asm!(
    ".pushsection .init_array, \"aw\"",
    ".p2align 3",
    ".quad kiln_check_cpu",
    ".popsection",
    "kiln_check_cpu:",
    "sub rsp, 8",
    "lea rdi, [rip + {required}]",
    "call kiln_cpu_lacks",
    "test eax, eax",
    "jz 2f",
    // write(2, MESSAGE), exit_group(1)
    "mov eax, 1",
    "mov edi, 2",
    "lea rsi, [rip + {message}]",
    "mov edx, {length}",
    "syscall",
    "mov eax, 231",
    "mov edi, 1",
    "syscall",
    "2:",
    "add rsp, 8",
    "ret",
    required = sym WORDS,
    message = sym TEXT,
    length = const MESSAGE.len(),
);

static WORDS: Words = REQUIRED;
static TEXT: [u8; MESSAGE.len()] = {
    let mut bytes = [0; MESSAGE.len()];
    bytes.copy_from_slice(MESSAGE.as_bytes());
    bytes
};
